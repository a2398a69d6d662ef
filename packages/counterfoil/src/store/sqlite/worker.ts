import { parentPort, workerData } from 'node:worker_threads'
import { runBatch } from './batch.ts'
import { failureOf } from './failure.ts'
import { Link } from './link.ts'
import type { FromWorker, Order, Result, ToWorker, WorkerOptions } from './protocol.ts'
import { Session } from './session.ts'

/** The thread that owns the file: one batch of calls, one transaction, one sync of the disk, one reply. */

const port = parentPort!
const options = workerData as WorkerOptions
const link = new Link(options)
const session = new Session(link, goOn)
/** Arrived while a trigger's transaction was open. */
const waiting: ToWorker[] = []

port.on('message', (message: ToWorker) => {
  if (session.isOpen && !isOfSession(message)) {
    waiting.push(message)
    return
  }
  handle(message)
  goOn()
})

function goOn(): void {
  while (!session.isOpen) {
    const next = waiting.shift()
    if (next === undefined) return
    handle(next)
  }
}

function handle(message: ToWorker): void {
  const { id } = message
  if ('batch' in message) {
    const block = message.batch.block.buffer as ArrayBuffer
    reply({ id, results: runBatch(link, message.batch), block }, [block])
  } else {
    reply({ id, result: answer(id, message.order) })
  }
}

function answer(id: number, order: Order): Result {
  try {
    return { ok: perform(id, order) }
  } catch (error) {
    return { failed: failureOf(error, options.path) }
  }
}

function perform(id: number, order: Order): unknown {
  switch (order.do) {
    case 'open':
      return link.open(order.migrate)
    case 'mark':
      return link.mark(order.key)
    case 'begin':
      return session.begin(id, order.timeoutMs)
    case 'close':
      return link.close()
    default:
      return session.perform(order)
  }
}

function isOfSession(message: ToWorker): boolean {
  return 'order' in message && 'session' in message.order
}

function reply(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}
