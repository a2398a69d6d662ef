import { CounterfoilError } from '../../domain/index.ts'
import { readingCalls } from '../reading-calls.ts'
import type { Connection } from './connection.ts'
import { failureOf, isStoreWide } from './failure.ts'
import type { Link } from './link.ts'
import type { Batch, Call, Result } from './protocol.ts'

/** Every call in one transaction and one sync of the disk; when one of them breaks it, each in its own, so that only the culprit fails. */
export function runBatch(link: Link, { calls, block }: Batch): Result[] {
  const readsOnly = calls.every(isReading)
  try {
    return link.transaction(readsOnly, (open) => calls.map((call) => ({ ok: run(open, call, block) })))
  } catch (error) {
    const failed: Result = { failed: failureOf(error, link.options.path) }
    if (calls.length === 1) return [failed]
    // What cannot be written can still be read, and is not to be tried once for each call.
    const alone = (call: Call) => !isStoreWide(error) || (!readsOnly && isReading(call))
    return calls.map((call) => (alone(call) ? runBatch(link, { calls: [call], block })[0]! : failed))
  }
}

function isReading([method]: Call): boolean {
  return readingCalls.has(method)
}

function run(open: Connection, [method, argument]: Call, block: Uint8Array): unknown {
  const perform = open.calls[method]
  if (perform === undefined) throw new CounterfoilError('internal', `the store has no call '${method}'`)
  return perform(argument, block)
}
