import type { Beyond } from '../beyond.ts'
import type { Acceptance, Accepted } from '../store.ts'
import type { Calls } from './call-queue.ts'
import type { Desk } from './desk.ts'
import { toError } from './failure.ts'
import { pack, packAll, packedBytes, packedBytesOfAll } from './packing.ts'
import type { Batch, Call, FromWorker, Order, Result } from './protocol.ts'
import type { StoreThread } from './thread.ts'

const noBytes = new Uint8Array(0)

/** The replies of one desk, by the id of what was asked. */
export class Replies {
  readonly #waiters = new Map<number, (message: FromWorker) => void>()
  #nextId = 1

  expect(waiter: (message: FromWorker) => void): number {
    const id = this.#nextId++
    this.#waiters.set(id, waiter)
    return id
  }

  arrive(message: FromWorker): void {
    const waiter = this.#waiters.get(message.id)
    this.#waiters.delete(message.id)
    waiter?.(message)
  }
}

/** A desk that several handles share, each as a process of its own would: nothing crosses a thread. */
export class InProcess implements StoreThread, Calls {
  readonly #desk: Desk
  readonly #replies: Replies
  #session: number | undefined
  #gone = false

  constructor(desk: Desk, replies: Replies) {
    this.#desk = desk
    this.#replies = replies
  }

  async accept(entry: Acceptance): Promise<Accepted | Beyond> {
    const block = Buffer.alloc(packedBytes(entry))
    return await this.#run(['accept', pack(entry, block, 0)], block)
  }

  async acceptAll(entries: readonly Acceptance[]): Promise<Accepted[]> {
    const block = Buffer.alloc(packedBytesOfAll(entries))
    return await this.#run(['acceptAll', packAll(entries, block, 0)], block)
  }

  call<Value>(method: string, argument: unknown): Promise<Value> {
    return this.#run([method, argument], noBytes)
  }

  /** What was asked before is answered before. */
  async drained(): Promise<void> {
    await this.call('backlog', null)
  }

  async end(): Promise<void> {}

  async order<Value>(order: Order): Promise<Value> {
    if (order.do === 'open') return { from: 0, to: 0, applied: [] } as Value
    if (order.do === 'close') return undefined as Value
    const result = await new Promise<Result>((resolve) => {
      const id = this.#replies.expect((message) => {
        const { result } = message as Extract<FromWorker, { result: Result }>
        if (order.do === 'begin' && 'ok' in result) this.#began(result.ok as number)
        resolve(result)
      })
      this.#desk.take({ id, order })
    })
    if (order.do === 'commit' || order.do === 'rollback') this.#session = undefined
    return resultOf(result) as Value
  }

  /** Its process has died: the transaction that it had open is rolled back, as SQLite does when a file is let go. */
  abandon(): void {
    this.#gone = true
    if (this.#session !== undefined) this.#rollback(this.#session)
  }

  #began(session: number): void {
    if (this.#gone) this.#rollback(session)
    else this.#session = session
  }

  #rollback(session: number): void {
    this.#session = undefined
    this.#desk.take({ id: this.#replies.expect(() => {}), order: { do: 'rollback', session } })
  }

  #run<Value>(call: Call, block: Uint8Array): Promise<Value> {
    const batch: Batch = { calls: [call], block }
    return new Promise((resolve, reject) => {
      const id = this.#replies.expect((message) => {
        const [result] = (message as Extract<FromWorker, { results: unknown }>).results
        if ('ok' in result!) resolve(result.ok as Value)
        else reject(toError(result!.failed))
      })
      this.#desk.take({ id, batch })
    })
  }
}

function resultOf(result: Result): unknown {
  if ('ok' in result) return result.ok
  throw toError(result.failed)
}
