import { stderrLog, systemClock } from '../ambient.ts'
import { type Contract, CounterfoilError, codeOf, contractPath } from '../domain/index.ts'
import { type Arrival, fromRequest } from '../intake/index.ts'
import { act, type Result, type RunHandler } from './act.ts'
import { type StoredAnswer, toResponse, withHeader } from './answer.ts'
import { type Call, isName, readCall } from './call.ts'
import { contractOf } from './contract.ts'
import { serveOwn } from './own-paths.ts'
import { type Refusal, toProblem } from './refusal.ts'
import { type GuardOptions, settingsOf } from './settings.ts'
import type { Given, InMode, Mode } from './store.ts'

/** What a handler works with. */
export interface Guarded<Tx> {
  /** The transaction that the guard's own records are in: whatever is written here commits with them, or not at all. */
  readonly tx: Tx
  readonly caller: string
  readonly key: string | null
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** The body as it came. */
  readonly body: Uint8Array
  /** The body as JSON. @throws SyntaxError */
  json(): any
  /** The place in the ordering domain that the request claims, if any; no newer version has acted. */
  readonly order: { readonly domain: string; readonly version: bigint } | null
}

/**
 * Does the work: writes rows through `tx` and answers. It calls nothing external, since that could not be undone;
 * for such calls plan effects. What it throws undoes all and is thrown on; nothing is kept, and the next attempt acts.
 */
export type Handler<Tx, M extends Mode> = (guarded: Guarded<Tx>) => Given<M>

/** What became of a request inside the owner's own transaction, and whether that may be committed. */
export type Inside = {
  readonly commit: boolean
  readonly kind: Result['kind']
  readonly answer: StoredAnswer
}

/** The recipient side in a service of yours, as `guard()` makes it. */
export interface Guard<Tx, M extends Mode> {
  /** What this guard promises; published at `/.well-known/counterfoil-contract.json`. */
  readonly contract: Contract
  /** Counts since the start: `acted`, `replayed`, `undone`, and refusals by code. */
  readonly counters: ReadonlyMap<string, number>
  /** Makes or brings up the guard's tables. Call it once at start. @throws CounterfoilError `store_*` */
  migrate(): Promise<void>
  /** A request in, an answer out; the answer comes after the commit. Rejects with what the handler threw. */
  handle(request: Request, handler: Handler<Tx, M>): Promise<Response>
  /** The same for a request from elsewhere than Fetch; the adapters use it. */
  handleArrival(arrival: Arrival, handler: Handler<Tx, M>): Promise<StoredAnswer>
  /**
   * Reads a request for `inside`, before the owner's transaction is begun. A refusal is an answer to send as it is.
   */
  read(request: Request | Arrival): Promise<{ readonly call: Call } | { readonly answer: StoredAnswer }>
  /**
   * The guard's part inside a transaction that the owner began. Commit it only when the result says so, and send the
   * answer after that.
   */
  inside(tx: Tx, call: Call, handler: Handler<Tx, M>): InMode<M, Inside>
  /** Serves the contract, lookups and tombstones; null for any other path. */
  serve(request: Request): Promise<Response | null>
  serveArrival(arrival: Arrival): Promise<StoredAnswer | null>
  /** Forgets keys whose time is over, `batch` at a time (default 500). @returns how many */
  clean(about?: { readonly batch?: number; readonly atMost?: number }): Promise<number>
}

/**
 * The recipient side, for a service you own: the first answer to a key is stored in the transaction that does the
 * work and replayed ever after; an older version never overwrites a newer one; a key can be closed before it acts.
 *
 * @throws CounterfoilError `config_invalid`
 *
 * @example
 * const seats = guard({ store: sqliteGuardStore(db), caller: (request) => request.header('x-tenant'), remembersFor: '30d' })
 * await seats.migrate()
 * app.post('/seats', (c) => seats.handle(c.req.raw, ({ tx, json }) => {
 *   tx.prepare('insert into seat (name) values (?)').run(json().name)
 *   return { status: 201, json: { open: true } }
 * }))
 */
export function guard<Tx, M extends Mode>(options: GuardOptions<Tx, M>): Guard<Tx, M> {
  const settings = settingsOf(options)
  const { store, caller, clock = systemClock, log = stderrLog } = options
  const contract = contractOf(settings)
  const counters = new Map<string, number>()
  const count = (what: string) => counters.set(what, (counters.get(what) ?? 0) + 1)

  async function callerOf(arrival: Arrival): Promise<string | Refusal> {
    const name = await caller(arrival)
    if (name === null)
      return { code: 'not_authenticated', detail: 'This service does not know who sends this request.' }
    if (isName(name)) return name
    throw new CounterfoilError('config_invalid', 'options.caller gave no name of 1 to 512 characters.')
  }

  function refused(refusal: Refusal): StoredAnswer {
    count(refusal.code)
    return toProblem(refusal, contractPath)
  }

  async function read(arrival: Arrival): Promise<{ call: Call } | { answer: StoredAnswer }> {
    const name = await callerOf(arrival)
    if (typeof name !== 'string') return { answer: refused(name) }
    const reading = await readCall(arrival, name, settings, clock)
    return reading.kind === 'read' ? { call: reading.call } : { answer: refused(reading.refusal) }
  }

  function answerOf(result: Result): StoredAnswer {
    if (result.kind === 'refused') return refused(result.refusal)
    count(result.kind)
    return result.kind === 'replayed'
      ? withHeader(result.answer, settings.headers.replayed, 'true')
      : result.answer
  }

  async function handleArrival(arrival: Arrival, handler: Handler<Tx, M>): Promise<StoredAnswer> {
    const reading = await read(arrival)
    if ('answer' in reading) return reading.answer
    const run = runHandler(reading.call, handler)
    try {
      return answerOf(await store.transaction((session) => act(session, reading.call, settings, run)))
    } catch (error) {
      return faultOf(error)
    }
  }

  /** Our database's faults become answers; a handler's own errors are its framework's. */
  function faultOf(error: unknown): StoredAnswer {
    const code = codeOf(error)
    if (code !== 'store_busy' && code !== 'store_unavailable' && code !== 'commit_unknown') throw error
    log('error', 'the guard could not decide a request', { code, error: String(error) })
    const detail =
      code === 'commit_unknown'
        ? 'It is not known whether this was carried out; send it again under the same key.'
        : 'Nothing was carried out; send it again under the same key.'
    return refused({ code, detail })
  }

  const own = { store, settings, contract, callerOf, refused, faultOf, clock }
  return {
    contract,
    counters,
    migrate: () => store.migrate(),
    handleArrival,
    handle: async (request, handler) => toResponse(await handleArrival(fromRequest(request), handler)),
    read: (request) => read(request instanceof Request ? fromRequest(request) : request),
    inside: (tx, call, handler) =>
      store.inside(tx, function* (session) {
        const { commit, value } = yield* act(session, call, settings, runHandler(call, handler))
        return { commit, kind: value.kind, answer: answerOf(value) }
      }),
    serveArrival: (arrival) => serveOwn(own, arrival),
    async serve(request) {
      const answer = await serveOwn(own, fromRequest(request))
      return answer === null ? null : toResponse(answer)
    },
    async clean({ batch = 500, atMost = Number.POSITIVE_INFINITY } = {}) {
      let cleaned = 0
      while (cleaned < atMost) {
        const limit = Math.min(batch, atMost - cleaned)
        const gone = await store.clean({ forgetKeys: settings.forgetKeys, limit })
        cleaned += gone
        if (gone < limit) break
        // Requests that wait for the database come between.
        await new Promise((resolve) => setImmediate(resolve))
      }
      return cleaned
    },
  }
}

function runHandler<Tx, M extends Mode>(call: Call, handler: Handler<Tx, M>): RunHandler<Tx> {
  const { caller, key, method, path, body, place } = call
  const order = place === null ? null : { domain: place.domain, version: place.version }
  const json = () => JSON.parse(new TextDecoder().decode(body))
  return (tx) => handler({ tx, caller, key, method, path, body, json, order })
}
