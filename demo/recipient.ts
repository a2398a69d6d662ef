/**
 * The demo's recipient, a process of its own: the workshop, which keeps the promises of its contract
 * (workshop.ts) and, on request, goes wrong in the ways that a network and a busy service do.
 *
 *     node demo/recipient.ts [--port 4841] [--dir .counterfoil]
 *
 *     POST /cards, POST /jobs    act once for each Idempotency-Key; a repeat gets the first answer again
 *     GET  /operations/{key}     200 when it acted under this key, else 404
 *     GET  /acts                 what it really did: {total, byKey, byReference, …}
 *     POST /control              {"lose": 2}, {"late": 1}, {"fail": 1}, {"drop": 1}: what the next acting requests meet
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { parseArgs } from 'node:util'
import { defaultPorts, directory } from './places.ts'
import { Faults } from './recipient-faults.ts'
import { type Act, Journal } from './recipient-journal.ts'

/** A request that was sent longer ago never acts. The contract's "not there is final" rests on this. */
const oldestMs = 4_000
/** A time stamp from further ahead could outlive that bound. */
const furthestAheadMs = 500
/** Longer than the second that the demo's caller waits. */
const lateMs = 2_500
const maxBodyBytes = 1_048_576

const { values: flags } = parseArgs({ options: { port: { type: 'string' }, dir: { type: 'string' } } })
const journal = new Journal(flags.dir ?? directory)
const faults = new Faults()
const counts = { replayed: 0, refusedOtherPayload: 0, refusedForAge: 0 }
let resetNext = false

const server = createServer((request, response) => {
  void handle(request, response).catch(() => response.destroy())
})
server.listen(Number(flags.port ?? defaultPorts.workshop), '127.0.0.1', () => {
  const address = server.address() as { port: number }
  process.stdout.write(
    `Workshop ready on http://127.0.0.1:${address.port}, ${journal.total} acts in its journal\n`,
  )
})
server.once('error', (error) => {
  process.stderr.write(`The workshop cannot listen: ${error.message}\n`)
  process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    server.close()
    server.closeAllConnections()
    journal.close()
    process.exit(0)
  })
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://workshop')
  const route = `${request.method} ${pathname}`
  const [, key] = /^GET \/operations\/([^/]+)$/.exec(route) ?? []
  const body = await readBody(request)
  if (body === null) answer(response, 413, { code: 'body-too-large' })
  else if (route === 'POST /cards' || route === 'POST /jobs') operate(request, response, pathname, body)
  else if (route === 'GET /acts') answer(response, 200, report())
  else if (route === 'POST /control') control(response, body)
  else if (key !== undefined) lookUp(response, decodeURIComponent(key))
  else answer(response, 404, { code: 'no-such-path' })
}

/** Check and act are one synchronous step: no lookup comes between them. */
function operate(request: IncomingMessage, response: ServerResponse, path: string, body: Buffer): void {
  const key = request.headers['idempotency-key']
  const fingerprint = createHash('sha256').update(`${path}\n`).update(body).digest('hex')
  const known = typeof key === 'string' ? journal.find(key) : undefined
  if (typeof key !== 'string' || key === '') {
    answer(response, 400, { code: 'key-missing' })
  } else if (known !== undefined && known.request !== fingerprint) {
    counts.refusedOtherPayload++
    answer(response, 422, { code: 'other-payload-under-this-key' })
  } else if (known !== undefined) {
    counts.replayed++
    answer(response, 201, firstAnswer(known), { 'idempotent-replayed': 'true' })
  } else if (!isFresh(request)) {
    counts.refusedForAge++
    answer(response, 425, { code: 'sent-too-long-ago', oldestMs })
  } else {
    act(request, response, { key, request: fingerprint, reference: referenceOf(body) })
  }
}

/** By the sender's clock, which is ours here. Without a time stamp there would be no bound. */
function isFresh(request: IncomingMessage): boolean {
  const age = Date.now() - Date.parse(String(request.headers['request-sent-at']))
  return age <= oldestMs && age >= -furthestAheadMs
}

function act(
  request: IncomingMessage,
  response: ServerResponse,
  about: Pick<Act, 'key' | 'request' | 'reference'>,
): void {
  const fault = faults.take()
  // It neither acts nor answers.
  if (fault === 'drop') return
  const done: Act = { at: new Date().toISOString(), operation: `op_${randomUUID()}`, ...about }
  journal.append(done)
  switch (fault) {
    case undefined:
      answer(response, 201, firstAnswer(done))
      break
    case 'fail':
      answer(response, 500, { code: 'something-broke-after-acting' })
      break
    case 'late':
      setTimeout(() => answer(response, 201, firstAnswer(done)), lateMs)
      break
    case 'lose':
      // In turn: the answer never comes, or the connection is reset.
      if (resetNext) request.socket.resetAndDestroy()
      resetNext = !resetNext
      break
  }
}

function lookUp(response: ServerResponse, key: string): void {
  const found = journal.find(key)
  if (found === undefined) answer(response, 404, { code: 'no-operation-under-this-key' })
  else answer(response, 200, { ...firstAnswer(found), at: found.at })
}

function control(response: ServerResponse, body: Buffer): void {
  const wrong = faults.set(parsed(body))
  if (wrong !== undefined) answer(response, 400, { code: 'control-invalid', detail: wrong })
  else answer(response, 200, { next: faults.next })
}

function report(): object {
  const { lose, late, fail, drop } = faults.happened
  return {
    ...journal.counts(),
    answersLost: lose,
    answersLate: late,
    answered500: fail,
    droppedUndone: drop,
    ...counts,
  }
}

function firstAnswer({ operation, reference }: Act): object {
  return { operation, reference }
}

function referenceOf(body: Buffer): string | null {
  const { reference } = (parsed(body) ?? {}) as { reference?: unknown }
  return typeof reference === 'string' ? reference : null
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= maxBodyBytes) chunks.push(chunk)
  }
  return bytes > maxBodyBytes ? null : Buffer.concat(chunks)
}

function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
