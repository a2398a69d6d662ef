import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { serve } from '@hono/node-server'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { around, nest, nestIntercepted, type Running } from '../fixtures/nest-apps.ts'
import { guardOn, seatHandler } from '../fixtures/service.ts'
import { sqliteService } from '../fixtures/sqlite-service.ts'
import {
  contractPath,
  fastifyPaths,
  fastifyRoute,
  type Guard,
  guardedRoute,
  guardPaths,
  honoPaths,
  honoRoute,
} from '../index.ts'

/** A server with `POST /api/seats` guarded, `GET /other` plain, and errors answered `500 planted`. */
type Start = (guard: Guard<any, any>, handler: any) => Promise<Running>

async function listening(server: Server): Promise<Running> {
  server.listen(0, '127.0.0.1')
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

function expressApp(guard: Guard<any, any>, handler: any, parser?: express.RequestHandler): express.Express {
  const app = express()
  if (parser !== undefined) app.use(parser)
  app.use(guardPaths(guard))
  // Below a router Express rewrites the url.
  const router = express.Router()
  router.post('/seats', guardedRoute(guard, handler))
  app.use('/api', router)
  app.get('/other', (_, response) => void response.send('other'))
  app.use(
    ((error, _request, response, _next) =>
      void response.status(500).send(error.message)) as express.ErrorRequestHandler,
  )
  return app
}

const frameworks: Record<string, Start> = {
  async Hono(guard, handler) {
    const app = new Hono()
    app.use(honoPaths(guard))
    app.post('/api/seats', honoRoute(guard, handler))
    app.get('/other', (context) => context.text('other'))
    app.onError((error, context) => context.text(error.message, 500))
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}`, stop: async () => server.close() }
  },
  Express: (guard, handler) => listening(createServer(expressApp(guard, handler))),
  'Express behind express.json()': (guard, handler) =>
    listening(createServer(expressApp(guard, handler, express.json()))),
  'Express behind express.raw()': (guard, handler) =>
    listening(createServer(expressApp(guard, handler, express.raw({ type: () => true })))),
  async Fastify(guard, handler) {
    const app = fastify()
    app.addHook('onRequest', fastifyPaths(guard))
    app.post('/api/seats', fastifyRoute(guard, handler))
    app.get('/other', async () => 'other')
    app.setErrorHandler((error: Error, _, reply) => reply.status(500).send(error.message))
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), stop: () => app.close() }
  },
  Nest: async (guard, handler) => await nest(guard, handler, false),
  'Nest behind its body parser': async (guard, handler) => await nest(guard, handler, true),
  'Nest on Express, by interceptor': async (guard, handler) =>
    await nestIntercepted(guard, handler, new ExpressAdapter()),
  'Nest on Fastify, by interceptor': async (guard, handler) =>
    await nestIntercepted(guard, handler, new FastifyAdapter()),
}

for (const [name, start] of Object.entries(frameworks)) {
  describe(`the guard in ${name}`, () => {
    let service: Awaited<ReturnType<typeof sqliteService>>
    let guard: Guard<any, any>
    let running: Running
    let fail = false
    beforeEach(async () => {
      service = await sqliteService()
      guard = await guardOn(service)
      fail = false
      running = await start(
        guard,
        seatHandler(service, (seat) => {
          if (fail) throw new RangeError('planted')
          return {
            status: 201,
            headers: { 'x-seat': seat, location: '/seats/é' },
            body: Uint8Array.of(0, 255, 10, 13),
          }
        }),
      )
    })
    afterEach(async () => {
      await running.stop()
      await service.dispose()
    })
    const post = (body = '{"seat":"A1"}', headers: Record<string, string> = {}) =>
      fetch(`${running.url}/api/seats`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-caller': 'alice',
          'idempotency-key': 'k1',
          connection: 'close',
          ...headers,
        },
        body,
      })
    const get = (path: string) =>
      fetch(running.url + path, { headers: { 'x-caller': 'alice', connection: 'close' } })
    const whole = async (response: Response) => {
      const { date: _, 'idempotency-replayed': replayed, ...headers } = Object.fromEntries(response.headers)
      return {
        replayed,
        status: response.status,
        headers,
        body: [...new Uint8Array(await response.arrayBuffer())],
      }
    }

    test('acts once, and replays status, headers and bytes', async () => {
      const first = await whole(await post())
      assert.deepEqual([first.status, first.body, first.headers['x-seat']], [201, [0, 255, 10, 13], 'A1/k1'])
      assert.deepEqual(await whole(await post('{ "seat": "A1" }')), { ...first, replayed: 'true' })
      assert.deepEqual(await service.rows(), ['A1/k1'])
    })

    test('refuses with a problem, and tells another path or body from the first', async () => {
      const other = await post('{"seat":"B2"}')
      assert.equal(other.status, 201)
      assert.equal(((await (await post()).json()) as { code: string }).code, 'guard_key_reused')
      const missing = await fetch(`${running.url}/api/seats`, {
        method: 'POST',
        headers: { 'x-caller': 'alice', connection: 'close' },
      })
      assert.deepEqual(
        [missing.status, missing.headers.get('content-type')],
        [400, 'application/problem+json'],
      )
      const [row] = await service.sql('select fingerprint from guard_key')
      assert.match(String(row?.fingerprint), /^jcs-sha256:/)
    })

    test("gives a handler's error to the framework after all was undone", async () => {
      fail = true
      const failed = await post()
      assert.deepEqual([failed.status, await failed.text()], [500, 'planted'])
      assert.deepEqual(await service.rows(), [])
      fail = false
      assert.equal((await post()).status, 201)
    })

    test('serves the contract, lookups and tombstones, and leaves other paths alone', async () => {
      await post()
      const record = (await (await get('/counterfoil/keys/k1')).json()) as { state: string }
      assert.equal(record.state, 'acted')
      assert.deepEqual(await (await get(contractPath)).json(), JSON.parse(JSON.stringify(guard.contract)))
      const closed = await fetch(`${running.url}/counterfoil/tombstones/k2`, {
        method: 'PUT',
        headers: { 'x-caller': 'alice', connection: 'close' },
      })
      assert.equal(closed.status, 200)
      assert.equal((await post('{"seat":"A1"}', { 'idempotency-key': 'k2' })).status, 412)
      assert.equal(await (await get('/other')).text(), 'other')
      assert.equal((await get('/nothing')).status, 404)
    })
  })
}

for (const name of ['Nest on Express, by interceptor', 'Nest on Fastify, by interceptor']) {
  test(`${name}: others around it see the end, an empty answer too, and a method without a handler says so`, async () => {
    const service = await sqliteService()
    const guard = await guardOn(service)
    const running = await frameworks[name]!(
      guard,
      seatHandler(service, () => ({ status: 204 })),
    )
    around.length = 0
    const post = (path: string, key: string) =>
      fetch(running.url + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-caller': 'alice',
          'idempotency-key': key,
          connection: 'close',
        },
        body: '{"seat":"A1"}',
      })
    const replayed = []
    for (let time = 0; time < 2; time++) {
      const answer = await post('/api/seats', 'k1')
      assert.deepEqual([answer.status, await answer.text()], [204, ''])
      replayed.push(answer.headers.get('idempotency-replayed'))
    }
    assert.deepEqual(
      [replayed, around],
      [
        [null, 'true'],
        ['ended', 'ended'],
      ],
    )
    const nothing = await post('/api/nothing', 'k2')
    assert.match(await nothing.text(), /Seats\.nothing is guarded and returned no handler/)
    assert.deepEqual(await service.rows(), ['A1/k1'])
    await running.stop()
    await service.dispose()
  })
}
