/**
 * The recipients of a chaos run, one process with a durable memory: a database that it writes, synced, before it
 * answers. Its rows are the referee of what arrived and what acted.
 *
 *     node test/chaos/recipient.ts FILE HOST PORT SEED SHARE
 *
 *     POST /{shape}/orders                  acts as the contract of the shape says (shapes.ts)
 *     GET  /{shape}/operations/{name}       200 when it acted under this name, else 404
 *
 * SHARE of the orders meet a fault of a busy service or a network, before or after the act.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from 'counterfoil/testing'
import { pick } from './random.ts'
import { actsWithinMs, guardOn, type Shape, shapes } from './shapes.ts'

const [file = '', host = '127.0.0.1', port = '0', seed = '1', share = '0'] = process.argv.slice(2)
const random = seededRandom(Number(seed))
/** How far ahead of ours a clock may be that says when an attempt was begun. */
const aheadMs = 500
const oneInTime = ['both', 'queryable']
const recognises = ['both', 'idempotent']

const db = new DatabaseSync(file)
db.exec(`
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists arrival (shape text, name text, body text, version text, at integer, too_late integer) strict;
  create table if not exists question (shape text, name text, kind text, status integer, at integer) strict;
  create table if not exists act (shape text, name text, domain text, version integer, body text, at integer) strict;
  create index if not exists act_name on act (name);
`)
const insertArrival = db.prepare('insert into arrival values (?, ?, ?, ?, ?, 0)')
const markTooLate = db.prepare('update arrival set too_late = 1 where rowid = ?')
const insertQuestion = db.prepare('insert into question values (?, ?, ?, ?, ?)')
const insertAct = db.prepare('insert into act values (?, ?, ?, ?, ?, ?)')
const findAct = db.prepare('select body from act where shape = ? and name = ?')
const seats = guardOn(db)
await seats.migrate()

interface Order {
  readonly shape: Shape
  /** The idempotency key, or the effect key at recipients that take none. */
  readonly name: string
  readonly body: string
  readonly begunAt: string
}

const before = ['fails', 'drops', 'stalls'] as const
const after = ['fails', 'resets', 'hangs', 'late'] as const

createServer((request, response) => void handle(request, response).catch(() => response.destroy())).listen(
  Number(port),
  host,
)

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const [, shape = ''] = (request.url ?? '').split('/')
  if (request.url === '/') return answer(response, 200)
  if (!shapes.includes(shape as Shape)) return answer(response, 404)
  if (request.method !== 'POST') {
    const asked = decodeURIComponent(request.url?.split('/').at(-1) ?? '')
    const given = shape === 'guarded' ? await seats.serve(toFetch(request, body)) : lookUp(shape, asked)
    const kind = request.method === 'GET' ? 'asked' : 'closed'
    insertQuestion.run(shape, asked, kind, given?.status ?? 404, Date.now())
    return await send(response, given)
  }
  const order = {
    shape: shape as Shape,
    name: String(request.headers['idempotency-key'] ?? JSON.parse(body).reference),
    body,
    begunAt: String(request.headers['attempt-begun-at']),
  }
  const version = request.headers['fence-version'] ?? null
  const { lastInsertRowid: arrival } = insertArrival.run(
    shape,
    order.name,
    body,
    version as string | null,
    Date.now(),
  )
  const meets = random.fraction() < Number(share) ? pick(random, ['before', 'after'] as const) : 'nothing'
  const early = meets === 'before' ? pick(random, before) : undefined
  if (early === 'fails') return answer(response, 500)
  if (early === 'drops') return
  if (early === 'stalls') await sleep(200 + 2_500 * random.fraction())
  const given =
    shape === 'guarded' ? await seats.handle(toFetch(request, body), ({ tx: _ }) => act(order)) : place(order)
  if (given.status === 425) markTooLate.run(arrival)
  const late = meets === 'after' ? pick(random, after) : undefined
  if (late === 'fails') return answer(response, 500)
  if (late === 'resets') return void request.socket.resetAndDestroy()
  if (late === 'hangs') return
  if (late === 'late') await sleep(1_100 + 400 * random.fraction())
  await send(response, given instanceof Response ? given : new Response('{}', given))
}

function lookUp(shape: string, name: string): Response {
  return new Response('{}', { status: findAct.get(shape, name) === undefined ? 404 : 200 })
}

/** Look and act are one transaction and one synchronous step. */
function place(order: Order): { status: number } {
  const first = recognises.includes(order.shape) ? findAct.get(order.shape, order.name) : undefined
  if (first !== undefined) return { status: first.body === order.body ? 200 : 422 }
  if (oneInTime.includes(order.shape) && !isInTime(order)) return { status: 425 }
  return act(order)
}

function act({ shape, name, body }: Order): { status: number; json: object } {
  const { domain, version } = JSON.parse(body)
  insertAct.run(shape, name, domain, version, body, Date.now())
  return { status: 201, json: {} }
}

function isInTime({ begunAt }: Order): boolean {
  const age = Date.now() - Date.parse(begunAt)
  return age <= actsWithinMs && age >= -aheadMs
}

function toFetch({ url, method = 'GET', headers }: IncomingMessage, body: string): Request {
  const about = { method, headers: headers as Record<string, string> }
  return new Request(`http://recipient${url}`, method === 'GET' ? about : { ...about, body })
}

async function send(response: ServerResponse, given: Response | null): Promise<void> {
  if (given === null) return answer(response, 404)
  response.writeHead(given.status, Object.fromEntries(given.headers)).end(await given.text())
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
}
