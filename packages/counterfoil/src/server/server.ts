import type { AddressInfo } from 'node:net'
import { type HttpBindings, serve as listen, type ServerType } from '@hono/node-server'
import { Hono } from 'hono'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import { problem } from '../intake/index.ts'
import { Credentials, minTokenLength, startBackfillWorker } from '../operate/index.ts'
import { Authentication } from './authentication.ts'
import { renderMetrics } from './metrics.ts'
import { operatorApi } from './operator-api.ts'
import { refusalOf } from './refusal.ts'

export interface ServeOptions {
  /** Default `127.0.0.1`. Any other than a loopback address needs operator credentials. */
  readonly host?: string
  /** Default 4840; 0 lets the system choose. */
  readonly port?: number
  /** `COUNTERFOIL_OPERATORS` and `COUNTERFOIL_OPERATOR_TOKEN` name operators beside those of the configuration. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface Server {
  readonly url: string
  /** Refuses new connections, drains, closes the store. */
  stop(): Promise<void>
}

/**
 * Serves a configuration over HTTP: `POST /in/{producer}`, `/healthz`, `/readyz`, `/metrics`, `/api/v1/…`
 * (design.md section 5).
 *
 * @throws CounterfoilError `config_invalid` for a public bind without operator credentials, or a port in use
 */
export async function serve(app: Counterfoil, options: ServeOptions = {}): Promise<Server> {
  const host = options.host ?? '127.0.0.1'
  const credentials = new Credentials(app.operators, options.env ?? {})
  if (!isLoopback(host) && credentials.isEmpty) {
    throw new CounterfoilError(
      'config_invalid',
      `Binding ${host} makes this server public, and no operator credentials are set.`,
      {
        hint: `Set COUNTERFOIL_OPERATOR_TOKEN to at least ${minTokenLength} characters, or bind 127.0.0.1 behind a proxy.`,
      },
    )
  }
  await app.start()
  let server: ServerType
  try {
    server = await listening(routes(app, credentials), host, options.port ?? 4840)
  } catch (error) {
    await app.stop()
    throw error
  }
  const backfills = startBackfillWorker(app)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      await backfills.stop()
      await app.stop()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await closed
    },
  }
}

function routes(app: Counterfoil, credentials: Credentials) {
  const hono = new Hono<{ Bindings: HttpBindings }>()
  const authentication = new Authentication(credentials, app.clock)
  hono.route('/api/v1', operatorApi(app, authentication))
  hono.all('/in/*', (context) => app.receiveIncoming(context.env.incoming))
  hono.get('/healthz', (context) => context.json({ status: 'ok' }))
  hono.get('/readyz', async (context) => {
    const ready = app.running && (await app.store.status().catch(() => null)) !== null
    return ready
      ? context.json({ status: 'ready' })
      : context.json({ status: 'not ready' }, 503, { 'retry-after': '1' })
  })
  hono.get('/metrics', async (context) => {
    if (!credentials.isEmpty) {
      const address = context.env.incoming.socket.remoteAddress ?? ''
      authentication.operatorOf(context.req.header('authorization'), address)
    }
    return context.text(renderMetrics(app.counters, await app.store.status()), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    })
  })
  hono.notFound((context) =>
    problem(404, 'not_found', `Nothing is served at ${context.req.path.slice(0, 200)}.`),
  )
  // Our own failure is 503, never 4xx: some producers drop an event for ever on those.
  hono.onError(refusalOf)
  return hono
}

function listening(hono: ReturnType<typeof routes>, hostname: string, port: number): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = listen(
      {
        fetch: hono.fetch,
        hostname,
        port,
        serverOptions: { requestTimeout: 60_000, headersTimeout: 15_000, keepAliveTimeout: 30_000 },
      },
      () => resolve(server),
    )
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = error.code === 'EADDRINUSE'
      reject(
        new CounterfoilError(
          'config_invalid',
          inUse
            ? `Port ${port} on ${hostname} is in use.`
            : `Cannot listen on ${hostname}:${port}: ${error.code}.`,
          {
            hint: inUse
              ? 'Stop the other program, or choose another port with --port.'
              : 'Choose an address of this machine with --host.',
            cause: error,
          },
        ),
      )
    })
  })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
