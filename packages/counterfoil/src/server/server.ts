import { hash, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type HttpBindings, serve as listen, type ServerType } from '@hono/node-server'
import { Hono } from 'hono'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import { problem } from '../intake/index.ts'
import { renderMetrics } from './metrics.ts'

export interface ServeOptions {
  /** Default `127.0.0.1`. Any other than a loopback address needs `operatorToken`. */
  readonly host?: string
  /** Default 4840; 0 lets the system choose. */
  readonly port?: number
  /** Asked for as a bearer token wherever records or figures are shown, when set. */
  readonly operatorToken?: string
}

export interface Server {
  readonly url: string
  /** Refuses new connections, drains, closes the store. */
  stop(): Promise<void>
}

/**
 * Serves a configuration over HTTP: `POST /in/{producer}`, `/healthz`, `/readyz`, `/metrics` (design.md section 5).
 *
 * @throws CounterfoilError `config_invalid` for a public bind without operator credentials, or a port in use
 */
export async function serve(app: Counterfoil, options: ServeOptions = {}): Promise<Server> {
  const host = options.host ?? '127.0.0.1'
  if (!isLoopback(host) && (options.operatorToken === undefined || options.operatorToken.length < 16)) {
    throw new CounterfoilError(
      'config_invalid',
      `Binding ${host} makes this server public, and no operator credentials are set.`,
      {
        hint: 'Set COUNTERFOIL_OPERATOR_TOKEN to at least 16 characters, or bind 127.0.0.1 behind a proxy.',
      },
    )
  }
  await app.start()
  let server: ServerType
  try {
    server = await listening(routes(app, options.operatorToken), host, options.port ?? 4840)
  } catch (error) {
    await app.stop()
    throw error
  }
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      await app.stop()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await closed
    },
  }
}

function routes(app: Counterfoil, operatorToken: string | undefined) {
  const hono = new Hono<{ Bindings: HttpBindings }>()
  hono.all('/in/*', (context) => app.receiveIncoming(context.env.incoming))
  hono.get('/healthz', (context) => context.json({ status: 'ok' }))
  hono.get('/readyz', async (context) => {
    const ready = app.running && (await app.store.status().catch(() => null)) !== null
    return ready
      ? context.json({ status: 'ready' })
      : context.json({ status: 'not ready' }, 503, { 'retry-after': '1' })
  })
  hono.get('/metrics', async (context) => {
    if (
      operatorToken !== undefined &&
      !sameText(context.req.header('authorization') ?? '', `Bearer ${operatorToken}`)
    ) {
      return problem(401, 'not_authenticated', 'Send the operator token as a bearer token.')
    }
    return context.text(renderMetrics(app.counters, await app.store.status()), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    })
  })
  hono.notFound((context) =>
    problem(404, 'not_found', `Nothing is served at ${context.req.path.slice(0, 200)}.`),
  )
  // Our own failure is 503, never 4xx: some producers drop an event for ever on those.
  hono.onError(() =>
    problem(503, 'store_unavailable', 'The server could not answer; send again.', { 'retry-after': '5' }),
  )
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

/** Compares digests, so that neither length nor content shows in the time it takes. */
function sameText(given: string, wanted: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', wanted, 'buffer'))
}
