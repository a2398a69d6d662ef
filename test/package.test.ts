import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from '../packages/counterfoil/src/testing/free-port.ts'

const root = join(import.meta.dirname, '..')
const bin = join(root, 'node_modules/.bin')

/** Where nothing above it has packages, or npm and Node would find those by accident. */
const place = [tmpdir(), '/var/tmp', homedir()].find(
  (directory) => !['package.json', 'node_modules'].some((name) => existsSync(join(directory, name))),
)
const folder = mkdtempSync(join(place ?? tmpdir(), 'counterfoil-package-'))
const project = join(folder, 'empty')
const installed = join(project, 'node_modules')

/** Entries that load with nothing but the package; each of the others may need the peer that it is for. */
const needNothing = [
  '.',
  'sqlite',
  'producers',
  'recipients',
  'cloudevents',
  'guard',
  'testing',
  'express',
  'fastify',
  'koa',
  'lambda',
].map((path) => join('counterfoil', path))

/** Bytes of all files of what `npm install counterfoil` brings, without peers: a megabyte is 1,000,000 of them. */
const installLimitBytes = 5_000_000

/** A command that takes longer is stopped, so that what it printed is in the error. */
const commandLimitMs = 180_000

interface Manifest {
  readonly exports: Readonly<Record<string, string | object>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/**
 * What npm says to its scripts leads to the checkout; the way to the registry (its address, certificates
 * and cache) is the machine's, and without it npm asks in vain for many minutes.
 */
const leadsToCheckout =
  /^(npm_(?!config_(registry|cafile|cache|globalconfig|userconfig)$)|INIT_CWD|NODE_(?!EXTRA_CA_CERTS$))/i
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !leadsToCheckout.test(name)),
)
/** The `node` and the `npm` of a new user: the project's own bins, and this Node, without conditions. */
const environment = {
  ...inherited,
  PATH: [dirname(process.execPath), process.env.PATH].join(':'),
  npm_config_prefer_offline: 'true',
  npm_config_update_notifier: 'false',
}

async function run(program: string, parameters: readonly string[], cwd = project): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, parameters, {
      cwd,
      env: { ...environment, ...places },
      maxBuffer: 64e6,
      timeout: commandLimitMs,
    })
    return stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${parameters.join(' ')}: ${stdout}${stderr}`, { cause: error })
  }
}

/** The quick start's servers are where a developer's own are not. */
let places: Record<string, string> = {}
let tarball: string
let manifest: Manifest
let subpaths: readonly string[]

describe('the package, packed and installed into an empty folder', () => {
  const background: ChildProcess[] = []

  before(async () => {
    mkdirSync(project)
    const packed = await run(
      'npm',
      ['pack', '--json', '--pack-destination', folder],
      join(root, 'packages/counterfoil'),
    )
    const [{ filename }] = JSON.parse(packed.slice(packed.search(/^\[$/m))) as [{ filename: string }]
    tarball = join(folder, filename)
    const [install = ''] = quickStart()
    await run('npm', [
      ...install
        .replace(/\bcounterfoil\b/, tarball)
        .split(' ')
        .slice(1),
      '--omit=optional',
    ])
    manifest = JSON.parse(readFileSync(join(installed, 'counterfoil/package.json'), 'utf8')) as Manifest
    subpaths = Object.keys(manifest.exports).map((path) => join('counterfoil', path))
  })

  after(async () => {
    for (const child of background) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(folder, { recursive: true })
  })

  test('the quick start of the README ends with an effect that is confirmed, and one act', async () => {
    const [mailPort, serverPort] = [await freePort(), await freePort()]
    places = {
      PORT: String(mailPort),
      MAIL_SERVICE: `http://127.0.0.1:${mailPort}`,
      SERVER: `http://127.0.0.1:${serverPort}`,
    }
    const said: string[] = []
    const answers = new Map<string, string>()
    for (const command of quickStart().slice(1)) {
      if (!command.endsWith(' &')) {
        answers.set(command, await untilConfirmed(command))
        continue
      }
      const started = command.slice(0, -2) + (command.includes(' serve') ? ` --port ${serverPort}` : '')
      const [program = '', ...parameters] = started.split(' ')
      const child = spawn(
        program === 'npx' ? join(installed, '.bin/counterfoil') : program,
        parameters.slice(program === 'npx' ? 1 : 0),
        {
          cwd: project,
          env: { ...environment, ...places },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      background.push(child)
      const lines = createInterface({ input: child.stdout! })
      lines.on('line', (line) => said.push(line))
      await once(lines, 'line')
    }
    const [sent = '', story = ''] = [...answers.values()].slice(-2)
    assert.match(sent, /^202 .*accepted[\s\S]*^200 .*duplicate/m)
    assert.match(story, /confirmed/)
    assert.match(story, /unknown/, 'the lost answer is in the story')
    assert.equal(said.filter((line) => line.startsWith('sent a mail')).length, 1)
  })

  test('every entry imports, by import and by require, with no more than the peer it is for', async () => {
    const missing = JSON.parse(
      await run(process.execPath, ['--input-type=module', '-e', importing('await import')]),
    ) as Record<string, string>
    for (const path of needNothing) assert.equal(missing[path], undefined, path)
    for (const [path, peer] of Object.entries(missing))
      assert.ok(peer in manifest.peerDependencies, `${path} needs ${peer}`)
    for (const peer of ['@nestjs', ...Object.keys(manifest.peerDependencies)]) {
      mkdirSync(dirname(join(installed, peer)), { recursive: true })
      if (!readdirSync(dirname(join(installed, peer))).includes(basename(peer)))
        symlinkSync(join(root, 'node_modules', peer), join(installed, peer))
    }
    assert.equal(await run(process.execPath, ['--input-type=module', '-e', importing('await import')]), '{}')
    assert.equal(await run(process.execPath, ['--input-type=commonjs', '-e', importing('require')]), '{}')
  })

  test('its types hold for a strict program, library check included', async () => {
    const entries = needNothing
    writeFileSync(
      join(project, 'types.ts'),
      `${entries.map((path, index) => `import * as entry${index} from '${path}'`).join('\n')}
export const all: readonly unknown[] = [${entries.map((_path, index) => `entry${index}`).join(', ')}]\n`,
    )
    const { customConditions: ___, ...strict } = (
      JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
        compilerOptions: Record<string, unknown>
      }
    ).compilerOptions
    const compilerOptions = { ...strict, skipLibCheck: false, typeRoots: [join(root, 'node_modules/@types')] }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const told = await run(join(bin, 'tsc'), ['-p', project, '--pretty', 'false']).catch(String)
    // What a dependency's declarations lack (structured-headers needs the DOM's) is not ours to mend.
    const errors = told.match(/\S+: error TS.*/g) ?? []
    assert.deepEqual(
      errors.filter((error) => !error.startsWith('node_modules/structured-headers/')),
      [],
    )
  })

  test('publint finds nothing, and are-the-types-wrong only that it is ESM', async () => {
    await run(join(bin, 'publint'), ['run', tarball, '--strict'])
    await run(join(bin, 'attw'), [tarball, '--profile', 'esm-only', '--no-emoji', '--format', 'ascii'])
  })

  test('is smaller than five megabytes with all that it brings', async () => {
    const lock = JSON.parse(readFileSync(join(installed, '.package-lock.json'), 'utf8')) as {
      packages: Record<string, unknown>
    }
    const brought = Object.keys(lock.packages).map((path) => join(project, path))
    const ours = brought.filter((path) => basename(path) !== 'zod')
    const bytes = ours.reduce((sum, path) => sum + sizeOf(path), 0)
    assert.ok(
      bytes < installLimitBytes,
      `${ours.map((path) => `${basename(path)} ${sizeOf(path)}`)}: ${bytes}`,
    )
    assert.deepEqual(ours.map((path) => path.slice(installed.length + 1)).sort(), [
      '@standard-schema/spec',
      'counterfoil',
      'jose',
      'structured-headers',
      'undici',
    ])
  })

  test('the container starts what the package has, where it may write, and takes only files that a project has', () => {
    const dockerfile = readFileSync(join(root, 'container/Dockerfile'), 'utf8')
    const [, command = '[]'] = /^CMD (.*)$/m.exec(dockerfile) ?? []
    const [program, file = '', act, option, config = ''] = JSON.parse(command) as string[]
    const isThere = (path: string) => existsSync(join(project, path.replace('/app/', '')))
    assert.deepEqual(
      [program, isThere(file), act, option, isThere(config)],
      ['node', true, 'serve', '--config', true],
    )
    const [directory, volume] = [
      dockerfile.match(/^WORKDIR (.*)$/gm)?.at(-1),
      /^VOLUME (.*)$/m.exec(dockerfile)?.[1],
    ]
    assert.equal(directory, `WORKDIR ${volume}`, 'a store with a relative path lies on the volume')
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \.\/$/gm)].flatMap(([, files = '']) =>
      files.split(' '),
    )
    const ofProject = readdirSync(project)
    for (const pattern of copied) {
      const fits = (name: string) => name.startsWith(pattern.replace(/\*$/, ''))
      assert.ok(ofProject.some(fits), pattern)
    }
  })

  test('brings no test, no fixture, no source and no map', () => {
    const files = readdirSync(join(installed, 'counterfoil'), { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      files.filter((file) => /\.test\.|fixtures|^src|\.map$|conformance/.test(file)),
      [],
    )
    for (const file of ['LICENSE', 'README.md', 'contract.schema.json', 'dist/server/third-party.txt'])
      assert.ok(files.includes(file), file)
  })
})

/** The commands of the README's quick start, as they stand there. */
function quickStart(): readonly string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, block = ''] = /```sh\n(npm install counterfoil[\s\S]*?)```/.exec(readme) ?? []
  return block.trim().split('\n')
}

/** A person looks again; the effect is asked for until it is done. */
async function untilConfirmed(command: string): Promise<string> {
  const [program = '', ...parameters] = command.split(' ')
  for (let looks = 0; ; looks++) {
    const told = await run(program, parameters)
    if (!command.includes('effects show') || /confirmed/.test(told)) return told
    assert.ok(looks < 300, told)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** A program that loads every entry, and prints which package was missing for those that do not load. */
function importing(how: 'await import' | 'require'): string {
  return `const missing = {}
    for (const path of ${JSON.stringify(subpaths)}) {
      try {
        ${how}(path${how === 'require' ? '' : ", path.endsWith('.json') ? { with: { type: 'json' } } : {}"})
      } catch (error) {
        const [, name] = /Cannot find (?:package|module) '((?:@[^/']+\\/)?[^/']+)/.exec(error.message) ?? []
        if (name === undefined) throw error
        missing[path] = name
      }
    }
    process.stdout.write(JSON.stringify(missing))`
}

function sizeOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
}
