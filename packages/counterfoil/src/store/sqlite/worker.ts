import { parentPort, workerData } from 'node:worker_threads'
import { CounterfoilError } from '../../domain/index.ts'
import type { Plan } from '../store.ts'
import { type Connection, migrate, openDatabase, prepare, readingCalls } from './connection.ts'
import { breaksConnection, failureOf, isSqliteError } from './failure.ts'
import type { Call, FromWorker, Result, ToWorker, WorkerOptions } from './protocol.ts'
import { runUserStatement } from './session.ts'

/** The thread that owns the file: one batch of calls, one transaction, one sync of the disk, one reply. */

const options = workerData as WorkerOptions
const { path } = options
const port = parentPort!
let connection: Connection | undefined
/** The trigger's transaction that is open; everything else waits in `waiting` until it is over. */
let session: { readonly id: number; readonly timer: NodeJS.Timeout } | undefined
const waiting: ToWorker[] = []

port.on('message', (message: ToWorker) => {
  const mayRun = session === undefined || 'session' in message
  if (mayRun) handle(message)
  else waiting.push(message)
})

function handle(message: ToWorker): void {
  if (message.do === 'batch') {
    reply({ id: message.id, results: runBatch(message.calls) })
    return
  }
  try {
    reply({ id: message.id, result: { ok: perform(message) } })
  } catch (error) {
    reply({ id: message.id, result: failed(error) })
  }
  while (session === undefined) {
    const next = waiting.shift()
    if (next === undefined) return
    handle(next)
  }
}

function perform(message: Exclude<ToWorker, { do: 'batch' }>): unknown {
  switch (message.do) {
    case 'open': {
      const db = openDatabase(options)
      try {
        const report = migrate(db, path, message.migrate)
        connection = prepare(db)
        return report
      } catch (error) {
        db.close()
        throw error
      }
    }
    case 'begin':
      return beginSession(message.id, message.timeoutMs)
    case 'statement':
      return runUserStatement(inSession(message.session), message.statement)
    case 'commit':
      return commitSession(message.session, message.plan as Plan)
    case 'rollback':
      if (session?.id === message.session) endSession('rollback')
      return undefined
    case 'close':
      connection?.db.close()
      connection = undefined
      return undefined
  }
}

/** Every call in one transaction; when one of them breaks it, each in its own, so that only the culprit fails. */
function runBatch(calls: readonly Call[]): Result[] {
  try {
    return transaction(
      calls.every(([method]) => readingCalls.has(method)),
      (open) => calls.map((call) => ({ ok: run(open, call) })),
    )
  } catch (error) {
    if (calls.length === 1 || isSqliteError(error)) return calls.map(() => failed(error))
    return calls.map((call) => runBatch([call])[0]!)
  }
}

function run(open: Connection, [method, argument]: Call): unknown {
  const perform = open.calls[method]
  if (perform === undefined) throw new CounterfoilError('internal', `the store has no call '${method}'`)
  return perform(argument)
}

function transaction<Value>(readsOnly: boolean, work: (open: Connection) => Value): Value {
  const open = connected()
  open.db.exec(readsOnly ? 'begin' : 'begin immediate')
  let value: Value
  try {
    value = work(open)
    if (!readsOnly) open.counts.write()
  } catch (error) {
    rollback(open)
    if (breaksConnection(error)) disconnect()
    throw error
  }
  commit(open)
  return value
}

function commit(open: Connection): void {
  try {
    open.db.exec('commit')
  } catch (error) {
    const failure = failureOf(error, path, true)
    rollback(open)
    // What reached the disk is known only after recovery, so the next batch starts with a fresh connection.
    if (breaksConnection(error)) disconnect()
    throw new CounterfoilError(
      failure.code,
      failure.message,
      failure.hint === undefined ? {} : { hint: failure.hint },
    )
  }
}

function rollback(open: Connection): void {
  open.counts.forget()
  try {
    if (open.db.isTransaction) open.db.exec('rollback')
  } catch {
    disconnect()
  }
}

function connected(): Connection {
  connection ??= prepare(openDatabase(options))
  return connection
}

function disconnect(): void {
  try {
    connection?.db.close()
  } catch {
    // A connection that cannot be closed cleanly is given up all the same.
  }
  connection = undefined
}

function beginSession(id: number, timeoutMs: number): number {
  const { db } = connected()
  db.exec('begin immediate')
  db.exec('savepoint trigger_statements')
  session = { id, timer: setTimeout(timeOut, timeoutMs) }
  return id
}

function timeOut(): void {
  endSession('rollback')
  for (
    let next = waiting.shift();
    next !== undefined;
    next = session === undefined ? waiting.shift() : undefined
  )
    handle(next)
}

function inSession(id: number) {
  const open = connected()
  if (session?.id !== id || !open.db.isTransaction) {
    throw new CounterfoilError('transaction_closed', 'The transaction of this trigger is over.', {
      hint: 'A trigger has a time limit, and a failed statement can end its transaction.',
    })
  }
  return open.db
}

function commitSession(id: number, plan: Plan): unknown {
  const db = inSession(id)
  const { planning, counts } = connected()
  try {
    const conflict = planning.conflict(plan)
    if (conflict !== null) {
      db.exec('rollback to trigger_statements')
      planning.refuse(plan, conflict)
    }
    const planned = conflict ?? planning.write(plan)
    // Planned by another worker meanwhile: what this trigger wrote was written by that one already.
    if (planned.kind === 'consumed') db.exec('rollback to trigger_statements')
    counts.write()
    endSession('commit')
    return planned
  } catch (error) {
    endSession('rollback')
    throw error
  }
}

function endSession(how: 'commit' | 'rollback'): void {
  if (session === undefined) return
  clearTimeout(session.timer)
  session = undefined
  if (connection === undefined) return
  if (how === 'commit') commit(connection)
  else rollback(connection)
}

function failed(error: unknown): Result {
  return { failed: failureOf(error, path) }
}

function reply(message: FromWorker): void {
  port.postMessage(message)
}
