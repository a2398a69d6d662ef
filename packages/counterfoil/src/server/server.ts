import type { AddressInfo } from 'node:net'
import { type HttpBindings, serve as listen, type ServerType } from '@hono/node-server'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import { problem } from '../intake/index.ts'
import {
  Credentials,
  healthOf,
  minTokenLength,
  sampleEachMinute,
  startBackfillWorker,
} from '../operate/index.ts'
import { Authentication } from './authentication.ts'
import { consoleFiles } from './console-files.ts'
import { renderMetrics } from './metrics.ts'
import { OidcSignIn } from './oidc.ts'
import { operatorApi } from './operator-api.ts'
import { readiness } from './readiness.ts'
import { refusalOf } from './refusal.ts'
import type { Doors } from './request-operator.ts'
import { Sessions } from './sessions.ts'
import { signIn } from './sign-in.ts'

export interface ServeOptions {
  /** Default `127.0.0.1`. Any other than a loopback address needs operator credentials. */
  readonly host?: string
  /** Default 4840; 0 lets the system choose. */
  readonly port?: number
  /** `COUNTERFOIL_OPERATORS` and `COUNTERFOIL_OPERATOR_TOKEN` name operators beside those of the configuration. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where browsers reach the console, such as `https://ops.example.com`. Default `COUNTERFOIL_PUBLIC_URL`, else its own address. */
  readonly publicUrl?: string
}

export interface Server {
  readonly url: string
  /** Refuses new connections, drains, closes the store. */
  stop(): Promise<void>
}

/**
 * Serves a configuration over HTTP: `POST /in/{producer}`, `/healthz`, `/readyz`, `/metrics`, `/console`,
 * `/api/v1/…` (design.md section 5).
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
  const publicUrl = publicUrlOf(options)
  const doors = {
    authentication: new Authentication(credentials, app.clock),
    sessions: new Sessions(app.clock),
    publicUrl,
  }
  let url = ''
  const oidc =
    app.signIn === undefined
      ? null
      : new OidcSignIn(app.signIn, app.clock, () => `${publicUrl ?? url}/console/session/oidc/return`)
  await app.start()
  let server: ServerType
  try {
    server = await listening(routes(app, credentials, doors, oidc), host, options.port ?? 4840)
  } catch (error) {
    await app.stop()
    throw error
  }
  const backfills = startBackfillWorker(app)
  const { port } = server.address() as AddressInfo
  url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  // A sample that is missing shows as a gap in the plots, and says nothing that the store does not say elsewhere.
  const endSampling = sampleEachMinute(app, () => {})
  return {
    url,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      endSampling()
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      await backfills.stop()
      await app.stop()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await closed
    },
  }
}

function routes(app: Counterfoil, credentials: Credentials, doors: Doors, oidc: OidcSignIn | null) {
  const hono = new Hono<{ Bindings: HttpBindings }>()
  const { authentication } = doors
  const isReady = readiness(app)
  hono.route('/api/v1', operatorApi(app, doors))
  hono.get('/', (context) => context.redirect('/console/'))
  hono.get('/console', (context) => context.redirect('/console/'))
  hono.use('/console/session/*', noStore)
  hono.route('/console/session', signIn(doors, oidc))
  hono.route('/console', consoleFiles())
  hono.all('/in/*', (context) => app.receiveIncoming(context.env.incoming))
  hono.get('/healthz', (context) => context.json({ status: 'ok' }))
  hono.get('/readyz', async (context) => {
    const { ready, ...found } = await isReady()
    return ready
      ? context.json({ status: 'ready', ...found })
      : context.json({ status: 'not ready', ...found }, 503, { 'retry-after': '1' })
  })
  hono.get('/metrics', async (context) => {
    if (!credentials.isEmpty) {
      const address = context.env.incoming.socket.remoteAddress ?? ''
      authentication.operatorOf(context.req.header('authorization'), address)
    }
    const [status, health] = await Promise.all([app.store.status(), healthOf(app)])
    return context.text(
      renderMetrics(app.counters, status, health, app.clock.now(), app.roundTripMs()),
      200,
      {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      },
    )
  })
  hono.notFound((context) =>
    problem(404, 'not_found', `Nothing is served at ${context.req.path.slice(0, 200)}.`),
  )
  // Our own failure is 503, never 4xx: some producers drop an event for ever on those.
  hono.onError(refusalOf)
  return hono
}

const noStore = createMiddleware(async (context, next) => {
  await next()
  context.header('cache-control', 'no-store')
})

/** @throws CounterfoilError `config_invalid` */
function publicUrlOf({ publicUrl, env }: ServeOptions): string | undefined {
  const given = publicUrl ?? env?.COUNTERFOIL_PUBLIC_URL
  if (given === undefined || given === '') return undefined
  const url = URL.canParse(given) ? new URL(given) : null
  if (url !== null && url.pathname === '/' && /^https?:$/.test(url.protocol)) return url.origin
  throw new CounterfoilError('config_invalid', `'${given}' is no address that browsers could reach.`, {
    hint: 'Give COUNTERFOIL_PUBLIC_URL a scheme and a host alone, such as https://ops.example.com.',
  })
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
