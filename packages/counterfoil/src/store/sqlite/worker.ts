import { parentPort, workerData } from 'node:worker_threads'
import { Desk } from './desk.ts'
import { Link } from './link.ts'
import type { ToWorker, WorkerOptions } from './protocol.ts'

/** The thread that owns the file: one batch of calls, one transaction, one sync of the disk, one reply. */

const port = parentPort!
const desk = new Desk(new Link(workerData as WorkerOptions), (message, moved) =>
  port.postMessage(message, moved === undefined ? [] : [moved]),
)

port.on('message', (message: ToWorker) => desk.take(message))
