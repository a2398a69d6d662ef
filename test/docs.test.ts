import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((f) => f.endsWith('.md'))
    .map((f) => `docs/${f}`),
]

interface Block {
  readonly page: string
  readonly code: string
}

function blocks(language: string): Block[] {
  return pages.flatMap((page) =>
    [
      ...readFileSync(join(root, page), 'utf8').matchAll(
        new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'),
      ),
    ].map((match) => ({ page, code: match[1]! })),
  )
}

test('every TypeScript block in the docs compiles and runs', () => {
  const directory = join(root, 'test/.docs-blocks')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  try {
    const found = blocks('ts')
    assert.ok(found.length > 0)
    const files = found.map(({ code }, index) => {
      const file = join(directory, `block-${index}.ts`)
      writeFileSync(file, code)
      return file
    })
    const compiled = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', root],
      { encoding: 'utf8' },
    )
    assert.equal(compiled.status, 0, compiled.stdout)
    for (const file of files)
      execFileSync(process.execPath, ['--conditions=counterfoil:source', file], { cwd: directory })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('every command that the docs name exists', () => {
  const launcher = join(root, 'packages/counterfoil/bin/counterfoil.js')
  const help = execFileSync(process.execPath, [launcher, '--help'], { encoding: 'utf8' })
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, command] of text.matchAll(
      /(?:npx |`)counterfoil ((?!COMMAND)[a-z]+(?: (?:list|show)\b)?)/g,
    )) {
      assert.match(help, new RegExp(`^  ${command}\\b`, 'm'), `${page}: counterfoil ${command}`)
    }
    for (const [, script] of text.matchAll(/npm run (?:-s |--silent )?([a-z:]+)/g))
      assert.ok(scripts[script!], `${page}: npm run ${script}`)
  }
})

test('every file and link that the docs name exists', () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, link] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      assert.ok(existsSync(join(root, dirname(page), link!)), `${page}: ${link}`)
    for (const [, file] of text.matchAll(
      /`((?:test|store|domain|engine|intake|recipients|guard)\/[\w./-]+\.ts)`/g,
    )) {
      const places = [join(root, file!), join(root, 'packages/counterfoil/src', file!)]
      assert.ok(
        places.some((place) => existsSync(place)),
        `${page}: ${file}`,
      )
    }
  }
})
