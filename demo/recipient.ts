/**
 * The demo's recipient, a process of its own: honours idempotency keys, can be asked what it did, never acts on a
 * request later than five seconds after it came, and on request behaves as badly as real networks do.
 *
 *   node demo/recipient.ts [--port 4841] [--dir .counterfoil]
 */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4841' }, dir: { type: 'string', default: '.counterfoil' } },
})

interface Operation {
  readonly key: string
  readonly digest: string
  readonly job: number
}

mkdirSync(values.dir, { recursive: true })
const journalPath = join(values.dir, 'workshop.jsonl')
const operations = new Map<string, Operation>()
/** By its own count, for each key: more than one would be the mistake that Counterfoil is there to prevent. */
const acts = new Map<string, number>()
if (existsSync(journalPath)) {
  for (const line of readFileSync(journalPath, 'utf8').split('\n').filter(Boolean))
    remember(JSON.parse(line) as Operation)
}
const journal = openSync(journalPath, 'a')

/** How many of the next acting requests go wrong, and how. Each acts first. */
const trouble = { lose: 0, late: 0, fail: 0 }
const done = { lost: 0, late: 0, failed: 0, refused: 0, replayed: 0 }
const lateMs = 2_500

const server = createServer((request, response) => {
  void answer(request, response).catch(() => response.destroy())
})
server.listen(Number(values.port), '127.0.0.1', () =>
  console.log(`workshop ready on http://127.0.0.1:${values.port}`),
)
server.on('error', (error) => {
  console.error(`workshop: ${error.message}`)
  process.exit(1)
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    closeSync(journal)
    process.exit(0)
  })
}
// A child of the demo ends with it.
process.on('disconnect', () => process.exit(0))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/'
  if (request.method === 'GET' && path.startsWith('/operations/')) {
    const operation = operations.get(decodeURIComponent(path.slice('/operations/'.length)))
    return operation === undefined
      ? send(response, 404, { error: 'unknown key' })
      : send(response, 200, operation)
  }
  if (request.method === 'GET' && path === '/acts') {
    const byKey = Object.fromEntries(acts)
    return send(response, 200, {
      total: [...acts.values()].reduce((sum, count) => sum + count, 0),
      byKey,
      ...done,
    })
  }
  const body = await read(request)
  if (request.method === 'POST' && path === '/control') {
    Object.assign(trouble, JSON.parse(body))
    return send(response, 200, trouble)
  }
  if (request.method === 'POST' && path === '/jobs') return await openJob(request, response, body)
  send(response, 404, { error: 'no such thing' })
}

async function openJob(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string') return send(response, 400, { error: 'Idempotency-Key is missing' })
  const digest = createHash('sha256').update(body).digest('hex')
  const first = operations.get(key)
  if (first !== undefined) {
    const same = first.digest === digest
    done[same ? 'replayed' : 'refused']++
    return same
      ? send(response, 200, first)
      : send(response, 422, { error: 'another payload under this key' })
  }
  const operation = { key, digest, job: operations.size + 1 }
  // On the disk before the answer: a recipient that forgets what it did honours no key.
  writeSync(journal, `${JSON.stringify(operation)}\n`)
  fsyncSync(journal)
  remember(operation)
  if (trouble.lose > 0) {
    trouble.lose--
    done.lost++
    return // It acted, and nobody will hear of it.
  }
  if (trouble.late > 0) {
    trouble.late--
    done.late++
    setTimeout(() => send(response, 201, operation), lateMs)
    return
  }
  if (trouble.fail > 0) {
    trouble.fail--
    done.failed++
    return send(response, 500, { error: 'it broke after the job was opened' })
  }
  send(response, 201, operation)
}

function remember(operation: Operation): void {
  operations.set(operation.key, operation)
  acts.set(operation.key, (acts.get(operation.key) ?? 0) + 1)
}

/** A request that has not come whole after five seconds never acts: that is what makes absence final. */
function read(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const timer = setTimeout(() => {
      request.destroy()
      reject(new Error('too late'))
    }, 4_000)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks).toString('utf8'))
    })
    request.on('error', reject)
  })
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
