/**
 * The recipient, a process of its own: `node recipient.ts PROMISES JOURNAL`, the promises as JSON. It prints its URL.
 *
 *   POST /act               acts, and counts it: one line on disk, before anybody is answered
 *   GET  /operations/NAME   200 when it acted under this name, else 404; only where it promises lookups
 *   GET  /acts              its own count
 *   POST /next/lose|hold    the next act is not answered: the connection is cut, or stays open
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Promises } from './system.ts'

export interface Act {
  readonly operation: string
  readonly amount: number
  readonly version: number
  readonly key: string | null
}

const [promisesText = '{}', journal = ''] = process.argv.slice(2)
const promises = JSON.parse(promisesText) as Promises
const file = openSync(journal, 'a')
const acts: Act[] = []
const keys = new Map<string, { readonly at: number; readonly body: string }>()
const versions = new Map<string, number>()
const next: ('lose' | 'hold')[] = []

const server = createServer((request, response) => {
  void handle(request, response).catch(() => response.destroy())
})
// No caller meets a connection that is just being closed for being idle.
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('disconnect', () => {
  closeSync(file)
  process.exit()
})

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  const path = decodeURIComponent(request.url ?? '/')
  if (path === '/act') return act(request, response, body)
  if (path === '/acts') return answer(response, 200, acts)
  if (path === '/next/lose' || path === '/next/hold') {
    next.push(path === '/next/lose' ? 'lose' : 'hold')
    return answer(response, 200, {})
  }
  const known = promises.lookup && acts.some(({ operation }) => path === `/operations/${operation}`)
  answer(response, known ? 200 : 404, {})
}

/** Check and act are one synchronous step. */
function act({ headers }: IncomingMessage, response: ServerResponse, body: string): void {
  const key = promises.keysMs === null ? null : String(headers['idempotency-key'])
  const first = key === null ? undefined : keys.get(key)
  const domain = String(headers['fence-domain'])
  const newest = Number(headers['fence-version'])
  if (first !== undefined && !forgotten(first.at)) {
    if (first.body === body) answer(response, 201, { replayed: true })
    else answer(response, 422, { code: 'other-payload-under-this-key' })
    return
  }
  if (promises.fence && newest <= (versions.get(domain) ?? 0)) {
    answer(response, 412, { code: 'older' })
    return
  }
  if (promises.fence) versions.set(domain, newest)
  const { operation, amount, version } = JSON.parse(body) as Act
  const done: Act = { operation, amount, version, key }
  writeSync(file, `${JSON.stringify(done)}\n`)
  fsyncSync(file)
  acts.push(done)
  if (key !== null) keys.set(key, { at: Date.now(), body })
  const fault = next.shift()
  if (fault === 'lose') response.destroy()
  else if (fault === undefined) answer(response, 201, {})
}

function forgotten(at: number): boolean {
  return typeof promises.keysMs === 'number' && Date.now() - at > promises.keysMs
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
