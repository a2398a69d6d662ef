import { runBatch } from './batch.ts'
import { failureOf } from './failure.ts'
import type { Link } from './link.ts'
import type { FromWorker, Order, Result, ToWorker } from './protocol.ts'
import { type After, Session } from './session.ts'

/**
 * Takes messages in the order in which they come: one batch of calls, one transaction, one reply. While a trigger's
 * transaction is open, everything else waits for its end.
 */
export class Desk {
  readonly #link: Link
  readonly #session: Session
  readonly #reply: (message: FromWorker, moved?: ArrayBuffer) => void
  /** Arrived while a trigger's transaction was open. */
  readonly #waiting: ToWorker[] = []

  constructor(link: Link, reply: (message: FromWorker, moved?: ArrayBuffer) => void, after?: After) {
    this.#link = link
    this.#reply = reply
    this.#session = new Session(link, () => this.#goOn(), after)
  }

  take(message: ToWorker): void {
    if (this.#session.isOpen && !isOfSession(message)) {
      this.#waiting.push(message)
      return
    }
    this.#handle(message)
    this.#goOn()
  }

  #goOn(): void {
    while (!this.#session.isOpen) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#handle(next)
    }
  }

  #handle(message: ToWorker): void {
    const { id } = message
    if ('batch' in message) {
      const block = message.batch.block.buffer as ArrayBuffer
      this.#reply({ id, results: runBatch(this.#link, message.batch), block }, block)
    } else {
      this.#reply({ id, result: this.#answer(id, message.order) })
    }
  }

  #answer(id: number, order: Order): Result {
    try {
      return { ok: this.#perform(id, order) }
    } catch (error) {
      return { failed: failureOf(error, this.#link.options.path) }
    }
  }

  #perform(id: number, order: Order): unknown {
    switch (order.do) {
      case 'open':
        return this.#link.open(order.migrate)
      case 'mark':
        return this.#link.mark(order.key)
      case 'begin':
        return this.#session.begin(id, order.timeoutMs)
      case 'close':
        return this.#link.close()
      default:
        return this.#session.perform(order)
    }
  }
}

function isOfSession(message: ToWorker): boolean {
  return 'order' in message && 'session' in message.order
}
