import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'
import type { BlockRun } from './fixtures/run-blocks.ts'

const root = join(import.meta.dirname, '..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => `docs/${file}`),
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

/** Where a page's blocks lie together. One that begins with `// name.ts` has that name, so that others can import it. */
const directory = join(root, 'test/.docs-blocks', String(process.pid))

function place({ page, code }: Block, index: number): string {
  const [, name = `block-${index}.ts`] = /^\/\/ ([\w-]+\.ts)\n/.exec(code) ?? []
  const folder = join(directory, page.replaceAll(/\W/g, '-'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), code)
  return join(folder, name)
}

test('every TypeScript block in the docs compiles and runs', async (t) => {
  rmSync(directory, { recursive: true, force: true })
  const found = blocks('ts')
  assert.ok(found.length > 0)
  const onDatabase = new Set(
    found.filter(({ code }) => code.includes('DATABASE_URL')).map(({ page }) => page),
  )
  const server = onDatabase.size > 0 && missing(18) === undefined ? await Server.start(18) : undefined
  try {
    const files = found.map(place)
    // By name: a folder that begins with a dot is passed over by patterns.
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), files, include: [] }),
    )
    const compiled = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory, '--listFiles'],
      { encoding: 'utf8' },
    )
    const told = compiled.stdout.split('\n')
    assert.equal(compiled.status, 0, told.filter((line) => !line.startsWith('/')).join('\n'))
    assert.deepEqual(
      files.filter((file) => !told.includes(file)),
      [],
      'every block was compiled',
    )
    const runs: BlockRun[] = []
    for (const [index, file] of files.entries()) {
      const { page } = found[index]!
      if (onDatabase.has(page) && server === undefined) continue
      runs.push({ file, env: onDatabase.has(page) ? await databaseFor(server!, page, index) : {} })
    }
    // All in one process: to load the sources costs more than the blocks do.
    const runner = join(import.meta.dirname, 'fixtures/run-blocks.ts')
    const words = ['--conditions=counterfoil:source', runner, JSON.stringify(runs)]
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    assert.equal(status, 0, `${stdout.split('\n').findLast((line) => line.startsWith(directory))}: ${stderr}`)
    if (onDatabase.size > 0 && server === undefined) skipLoudly(t, missing(18)!)
  } finally {
    await server?.dispose()
    rmSync(directory, { recursive: true, force: true })
  }
})

/** A database of its own, with the tables of the page's SQL blocks in it. */
async function databaseFor(server: Server, page: string, index: number): Promise<{ DATABASE_URL: string }> {
  await server.query(`create database block_${index}`)
  const url = server.url().replace(/\w+$/, `block_${index}`)
  const client = new pg.Client(url)
  await client.connect()
  for (const { code } of blocks('sql').filter((block) => block.page === page)) await client.query(code)
  await client.end()
  return { DATABASE_URL: url }
}

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
    const prose = text.replace(/^```.*?^```/gms, '')
    for (const [, link] of prose.matchAll(/\]\((?!https?:)([^)#]+)/g))
      assert.ok(existsSync(join(root, dirname(page), link!)), `${page}: ${link}`)
    for (const [, file] of text.matchAll(
      /`((?:test|store|domain|engine|intake|recipients|transports|guard)\/[\w./-]+\.ts)`/g,
    )) {
      const places = [join(root, file!), join(root, 'packages/counterfoil/src', file!)]
      assert.ok(
        places.some((place) => existsSync(place)),
        `${page}: ${file}`,
      )
    }
  }
})
