import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { sqlite } from 'counterfoil/sqlite'
import { init } from '../packages/counterfoil/src/cli/init.ts'

const root = join(import.meta.dirname, '..')
const launcher = join(root, 'packages/counterfoil/bin/counterfoil.js')

/** In the repository, so that a new project finds the packages that `npm install` would bring it. */
const parent = mkdtempSync(join(root, '.init-'))
const project = join(parent, 'My Shop')
const { NODE_TEST_CONTEXT: _, ...environment } = process.env

async function initialise(directory: string): Promise<{ lines: string; told: any }> {
  const lines: string[] = []
  let told: unknown
  const out = {
    json: (value: unknown) => {
      told = value
    },
    line: (text = '') => void lines.push(text),
    progress: () => {},
  }
  const app = () => Promise.reject(new Error('there is no configuration yet'))
  await init.run({ positionals: [directory], options: {}, app, out })
  return { lines: lines.join('\n'), told }
}

describe('a project that init made', () => {
  before(() => {
    mkdirSync(join(parent, 'node_modules'))
    symlinkSync(join(root, 'packages/counterfoil'), join(parent, 'node_modules/counterfoil'))
    symlinkSync(join(root, 'node_modules/zod'), join(parent, 'node_modules/zod'))
  })
  after(() => rmSync(parent, { recursive: true }))

  test('is made in a directory of its own, and secrets are for their owner alone', async () => {
    const { lines, told } = await initialise(project)
    assert.match(lines, /made {2}counterfoil\.config\.ts[\s\S]*npx counterfoil serve/)
    assert.ok(told.made.includes('.env'))
    assert.equal(statSync(join(project, '.env')).mode & 0o077, 0)
    assert.match(readFileSync(join(project, '.gitignore'), 'utf8'), /^\.env$/m)
    const about = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { name: string }
    assert.equal(about.name, 'my-shop')
  })

  test('is not made over another one, and leaves files that were there as they were', async () => {
    await assert.rejects(initialise(project), { code: 'usage_invalid' })
    const other = join(parent, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'package.json'), '{}')
    const { told, lines } = await initialise(other)
    assert.deepEqual(told.kept, ['package.json'])
    assert.match(lines, /^ {2}npm pkg set type=module\n {2}npm install counterfoil zod$/m)
    assert.equal(readFileSync(join(other, 'package.json'), 'utf8'), '{}')
    const secretOf = (directory: string) => readFileSync(join(directory, '.env'), 'utf8')
    assert.notEqual(secretOf(project), secretOf(other))
  })

  test('type-checks as strictly as this repository', () => {
    const settings = { extends: join(root, 'tsconfig.json'), include: ['*.ts'] }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const compiled = spawnSync(process.execPath, [tsc, '--noEmit', '-p', project], { encoding: 'utf8' })
    assert.equal(compiled.status, 0, compiled.stdout)
  })

  test('receives, acts once though the answer is lost, and says so', async () => {
    const begin = async (parameters: string[], more: NodeJS.ProcessEnv) => {
      const child = spawn(process.execPath, parameters, { cwd: project, env: { ...environment, ...more } })
      const lines = createInterface({ input: child.stdout })
      const said: string[] = []
      lines.on('line', (line) => said.push(line))
      await once(lines, 'line')
      const [url = ''] = /http:[^\s,]+/.exec(said[0] ?? '') ?? []
      return { child, said, url }
    }
    const service = await begin(['mail-service.ts'], { PORT: '0' })
    const server = await begin([launcher, 'serve', '--port', '0'], { MAIL_SERVICE: service.url })
    const store = sqlite(join(project, 'counterfoil.db'))
    try {
      const sent = execFileSync(process.execPath, ['send.ts', '7'], {
        cwd: project,
        env: { ...environment, SERVER: server.url },
        encoding: 'utf8',
      })
      assert.match(sent, /^202 .*accepted[\s\S]*^200 .*duplicate/m)
      await store.open({ migrate: false })
      for (let looks = 0; ; looks++) {
        const [story] = await store.showEffects('order/7/receipt/revision/1')
        if (story?.effect.state === 'confirmed') break
        assert.ok(looks < 2_400, `in a minute it stays ${story?.effect.state}`)
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
      assert.equal(service.said.filter((line) => line.startsWith('sent a mail')).length, 1)
      assert.match(service.said.join('\n'), /asked again under key \S+: the first answer/)
    } finally {
      await store.close()
      for (const { child } of [server, service]) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
    }
  })
})
