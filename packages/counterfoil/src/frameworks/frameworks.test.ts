import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { serve } from '@hono/node-server'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda'
import { counterfoil, producer, trigger } from 'counterfoil'
import { receiver as onExpress } from 'counterfoil/express'
import { receiver as onFastify } from 'counterfoil/fastify'
import { receiver as onKoa } from 'counterfoil/koa'
import { type EventV1, type EventV2, receiver as onLambda } from 'counterfoil/lambda'
import { receiver as onNest } from 'counterfoil/nest'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { standardHeaders, standardSecret } from '../intake/fixtures/senders.ts'

const directory = mkdtempSync(join(tmpdir(), 'counterfoil-frameworks-'))

function open(name: string) {
  return counterfoil({
    store: sqlite(join(directory, `${name}.db`)),
    triggers: [trigger('note a paid order', { on: orderPaid, plan: () => {} })],
    recipients: [],
    log: () => {},
  })
}
const shop = producer('shop', standardWebhooks({ secrets: standardSecret }), { maxBytes: 100_000 })
const orderPaid = shop.event('order.paid')
const app = open('shared')

interface Running {
  readonly url: string
  readonly stop: () => Promise<unknown>
}

async function listening(listener: RequestListener): Promise<Running> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function nest(options: { rawBody?: boolean; bodyParser?: boolean }, adapter: any): Promise<Running> {
  class Shop {}
  // A store is for one application; this one is started and stopped by Nest.
  Module({ imports: [onNest(open(`nest-${count++}`), { work: false })] })(Shop)
  const nestApp = await NestFactory.create(Shop, adapter, { logger: false, ...options })
  await nestApp.listen(0, '127.0.0.1')
  return { url: (await nestApp.getUrl()).replace('[::1]', '127.0.0.1'), stop: () => nestApp.close() }
}
let count = 0

function expressWith(parser: express.RequestHandler | null): Promise<Running> {
  const server = express()
  if (parser !== null) server.use(parser)
  server.use('/hooks', express.Router().all('/in/*producer', onExpress(app)))
  server.use(express.json())
  server.post('/other', (request, response) => void response.json(request.body))
  return listening(server)
}

async function fastifyWith(hook: ((request: any) => Promise<void>) | null): Promise<Running> {
  const server = fastify()
  if (hook !== null) server.addHook('preHandler', hook)
  await server.register(onFastify(app))
  server.post('/other', (request) => request.body)
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  return { url, stop: () => server.close() }
}

/** Takes what is on the socket and leaves a value, as body parsers do. */
async function parse(request: any): Promise<void> {
  let text = ''
  for await (const chunk of request) text += chunk
  request.body = JSON.parse(text)
}

function koaWith(parser: Koa.Middleware | null): Promise<Running> {
  const koa = new Koa()
  if (parser !== null) koa.use(parser)
  koa.use(onKoa(app))
  koa.use((context) => {
    context.body = 'other'
  })
  return listening(koa.callback())
}

function hono(): Promise<Running> {
  const routes = new Hono()
  routes.all('/in/*', (context) => app.receive(context.req.raw))
  routes.all('/other', (context) => context.text('other'))
  return new Promise((resolve) => {
    const server = serve({ fetch: routes.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        stop: () => new Promise((closed) => server.close(closed)),
      }),
    )
  })
}

/** Sends a delivery; how, is the framework's. */
type Send = (
  path: string,
  init: RequestInit & { body: Uint8Array<ArrayBuffer> },
) => Promise<{ status: number; body: any }>

const overHttp =
  (url: string): Send =>
  async (path, init) => {
    const response = await fetch(url + path, init)
    return { status: response.status, body: await response.json() }
  }

/** Route handlers of Next and SvelteKit, `Bun.serve` and `Deno.serve` are functions of this shape. */
const POST = (request: Request): Promise<Response> => app.receive(request)
const byFetch: Send = async (path, init) => {
  const response = await POST(new Request(`https://shop.example.com${path}`, init))
  return { status: response.status, body: await response.json() }
}

const ofLambda = open('lambda')
const handler = onLambda(ofLambda)
const lambda =
  (shape: (path: string, headers: Record<string, string>, body: Buffer) => EventV1 | EventV2): Send =>
  async (path, { headers, body }) => {
    const answer = await handler(shape(path, headers as Record<string, string>, Buffer.from(body)))
    return { status: answer.statusCode, body: JSON.parse(answer.body) }
  }
const v1 = (encoding: 'base64' | 'utf8'): Send =>
  lambda((path, headers, body) => {
    const event: Partial<APIGatewayProxyEvent> = {
      httpMethod: 'POST',
      path,
      headers,
      multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      body: body.toString(encoding),
      isBase64Encoded: encoding === 'base64',
    }
    return event as APIGatewayProxyEvent
  })
const v2 = (encoding: 'base64' | 'utf8'): Send =>
  lambda((path, headers, body) => {
    const event = {
      version: '2.0',
      rawPath: `/stage${path}`,
      rawQueryString: '',
      headers,
      requestContext: { http: { method: 'POST' } },
      body: body.toString(encoding),
      isBase64Encoded: encoding === 'base64',
    }
    return event as unknown as APIGatewayProxyEventV2
  })

const getsTheBytes: Record<string, { start?: () => Promise<Running>; send?: Send; prefix?: string }> = {
  Hono: { start: hono },
  'a Fetch handler': { send: byFetch },
  Express: { start: () => expressWith(null), prefix: '/hooks' },
  'Express behind express.raw()': {
    start: () => expressWith(express.raw({ type: '*/*' })),
    prefix: '/hooks',
  },
  Fastify: { start: () => fastifyWith(null) },
  Koa: { start: () => koaWith(null) },
  'Nest on Express with rawBody': { start: () => nest({ rawBody: true }, new ExpressAdapter()) },
  'Nest on Express without a parser': { start: () => nest({ bodyParser: false }, new ExpressAdapter()) },
  'Nest on Fastify with rawBody': { start: () => nest({ rawBody: true }, new FastifyAdapter()) },
  'Lambda, format 1.0, base64': { send: v1('base64') },
  'Lambda, format 1.0, text': { send: v1('utf8') },
  'Lambda, format 2.0, base64': { send: v2('base64') },
  'Lambda, format 2.0, text': { send: v2('utf8') },
}

const parsedBefore: Record<string, { start?: () => Promise<Running>; send?: Send; prefix?: string }> = {
  Express: { start: () => expressWith(express.json()), prefix: '/hooks' },
  Fastify: { start: () => fastifyWith((request) => parse(request.raw)) },
  Koa: {
    start: () =>
      koaWith(async (context, next) => {
        await parse(context.req)
        await next()
      }),
  },
  Nest: { start: () => nest({}, new ExpressAdapter()) },
  'a Fetch handler': {
    send: async (path, init) => {
      const request = new Request(`https://shop.example.com${path}`, init)
      await request.json()
      const response = await POST(request)
      return { status: response.status, body: await response.json() }
    },
  },
  Lambda: {
    send: lambda((path, headers, body) => ({
      ...({ version: '2.0', rawPath: path, rawQueryString: '', headers } as const),
      requestContext: { http: { method: 'POST' } },
      body: JSON.parse(body.toString()),
      isBase64Encoded: false,
    })),
  },
}

/** No parser and writer of JSON gives these bytes back. */
const odd = Buffer.from(
  '{ "type":"order.paid",\n"timestamp":"2026-01-01T00:00:00Z", "data": {"b": 1.0, "a":"\\u00e9"}  }\n',
)

function delivery(id: string, body: Uint8Array<ArrayBuffer> = odd, instead = body) {
  const at = Math.floor(Date.now() / 1000)
  return { method: 'POST', headers: standardHeaders(id, at, body), body: instead }
}

async function sending(
  { start, send, prefix = '' }: (typeof getsTheBytes)[string],
  work: (send: (init: ReturnType<typeof delivery>) => ReturnType<Send>, url: string) => Promise<void>,
): Promise<void> {
  const running = await start?.()
  try {
    const how = send ?? overHttp(running!.url)
    await work((init) => how(`${prefix}/in/shop`, init), running?.url ?? '')
  } finally {
    await running?.stop()
  }
}

describe('a delivery through a framework', () => {
  before(() => app.start({ work: false }))
  after(async () => {
    await Promise.all([app.stop(), ofLambda.stop()])
    rmSync(directory, { recursive: true })
  })

  for (const [name, framework] of Object.entries(getsTheBytes)) {
    test(`${name}: what is verified are the bytes as they came`, async () => {
      await sending(framework, async (send, url) => {
        const id = `msg_${name.replaceAll(/\W/g, '_')}`
        const first = await send(delivery(id))
        assert.deepEqual([first.status, first.body.outcome], [202, 'accepted'])
        const again = await send(delivery(id))
        assert.deepEqual([again.status, again.body.receipt], [200, first.body.receipt])
        const sameValue = Buffer.from(JSON.stringify(JSON.parse(odd.toString())))
        const altered = await send(delivery(`${id}_2`, odd, sameValue))
        assert.deepEqual([altered.status, altered.body.code], [401, 'signature_invalid'])
        const large = await send(delivery(`${id}_3`, Buffer.from(JSON.stringify(['x'.repeat(100_000)]))))
        assert.deepEqual([large.status, large.body.code], [413, 'body_too_large'])
        if (url === '') return
        const other = await fetch(`${url}/other`, { method: 'POST', ...json })
        assert.notEqual(other.status, 202, 'other routes are as they were')
      })
    })
  }

  for (const [name, framework] of Object.entries(parsedBefore)) {
    test(`${name}: a body that was parsed before is refused, and nobody is told that it was taken`, async () => {
      await sending(framework, async (send) => {
        const { status, body } = await send(delivery(`parsed_${name.replaceAll(/\W/g, '_')}`))
        assert.deepEqual([status, body.code], [503, 'body_already_read'])
      })
    })
  }

  test('a compressed body is inflated once, by whoever read it', async () => {
    for (const parser of [null, express.raw({ type: '*/*' })]) {
      await sending({ start: () => expressWith(parser), prefix: '/hooks' }, async (send) => {
        const init = delivery(`gzip_${parser === null}`, odd, gzipSync(odd) as Buffer<ArrayBuffer>)
        const { status } = await send({
          ...init,
          headers: { ...init.headers, 'content-encoding': 'gzip' } as never,
        })
        assert.equal(status, 202)
      })
    }
  })

  test("a framework's own routes get their bodies as before", async () => {
    for (const start of [() => expressWith(null), () => fastifyWith(null)]) {
      const { url, stop } = await start()
      try {
        assert.deepEqual(await (await fetch(`${url}/other`, { method: 'POST', ...json })).json(), { a: 1 })
      } finally {
        await stop()
      }
    }
  })
})

const json = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
