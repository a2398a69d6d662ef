import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { problem } from '../intake/index.ts'

/** Where the build puts the console, seen from the sources and from what is published alike. */
export const consoleDirectory: string = join(import.meta.dirname, '../../dist/console')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

interface File {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Null for what is compressed already. */
  readonly gzip: Uint8Array<ArrayBuffer> | null
}

/**
 * The built console. Its page is the same at every address under `/console`, and holds nothing: what it shows it
 * asks of `/api/v1`. Only files of the build are served, from memory, so no path leads out of it.
 */
export function consoleFiles(directory: string = consoleDirectory): Hono<{ Bindings: HttpBindings }> {
  const files = existsSync(directory)
    ? new Map(readdirSync(directory).map((name) => [name, read(directory, name)]))
    : new Map<string, File>()
  const routes = new Hono<{ Bindings: HttpBindings }>()
  routes.use(protection)
  routes.get('/assets/:name', (context) => {
    const file = files.get(context.req.param('name'))
    // The name of a file holds a digest of it.
    return file === undefined
      ? problem(404, 'not_found', 'The console has no such file.')
      : answer(context, file, 'public, max-age=31536000, immutable')
  })
  routes.get('/*', (context) => {
    const page = files.get('index.html')
    return page === undefined
      ? context.html(notBuilt, 503, { 'cache-control': 'no-store' })
      : answer(context, page, 'no-store')
  })
  return routes
}

function read(directory: string, name: string): File {
  const bytes = new Uint8Array(readFileSync(join(directory, name)))
  const type = types[extname(name)] ?? 'application/octet-stream'
  return { type, bytes, gzip: type.startsWith('font/') ? null : new Uint8Array(gzipSync(bytes)) }
}

function answer(context: Context, { type, bytes, gzip }: File, caching: string): Response {
  const headers = { 'content-type': type, 'cache-control': caching, vary: 'accept-encoding' }
  const takesGzip = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '')
  return gzip !== null && takesGzip
    ? context.body(gzip, 200, { ...headers, 'content-encoding': 'gzip' })
    : context.body(bytes, 200, headers)
}

/** No script, style or frame but the console's own; nothing written into the page as text can become one. */
const protection = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    fontSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
    requireTrustedTypesFor: ["'script'"],
    trustedTypes: ["'none'"],
  },
  xFrameOptions: 'DENY',
  referrerPolicy: 'no-referrer',
  // Where TLS ends says so itself.
  strictTransportSecurity: false,
  permissionsPolicy: { camera: [], geolocation: [], microphone: [], payment: [] },
})

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Counterfoil: console not built</title>
<h1>The console is not built here</h1>
<p>The server works, and so do its interfaces. To see the console, run <code>npm run build:console</code> in the
checkout and start the server again.</p></html>`
