import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventOf, logEvents, namedEvents } from './log-events.ts'

const source = import.meta.dirname
/** Messages that the code writes, up to what differs from one to the next. */
const messages = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|fixtures\/|^testing\/|^log-/.test(file))
  .flatMap((file) => {
    const text = readFileSync(join(source, file), 'utf8')
    const call =
      /\b(?:log|logRefusal|logFailure)\(\s*(?:'(?:info|warn|error)'|level),\s*(?:'([^']+)'|`([^`$]*))/g
    return [...text.matchAll(call)].map(([, whole, beginning]) => ({ file, message: (whole ?? beginning)! }))
  })

test('every message that is written has the name of its event, and no name is left over', () => {
  assert.ok(messages.length > 20)
  const written = new Set<string | undefined>()
  for (const { file, message } of messages) {
    const event = eventOf(message)
    assert.ok(event !== undefined, `${file} writes '${message}': give it a name in log-events.ts`)
    written.add(event)
  }
  for (const [beginning, event] of logEvents) assert.ok(written.has(event), `nothing writes '${beginning}'`)
})

test('the documentation lists every event', () => {
  const page = readFileSync(join(source, '../../../docs/telemetry.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `([a-z.-]+)` \| (?:info|warn|error)/gm)].map(([, event]) => event)
  assert.deepEqual(listed.toSorted(), [...new Set(logEvents.map(([, event]) => event))].toSorted())
})

test('a record says which event it is, and covers what is named like a secret', () => {
  const records: unknown[] = []
  const log = namedEvents((...record) => records.push(record))
  log('warn', 'a plan failed; it is tried again', { receipt: 'rcp_1', Authorization: 'Bearer x', token: 'y' })
  log('info', 'what a program of the user writes')
  assert.deepEqual(records, [
    [
      'warn',
      'a plan failed; it is tried again',
      { event: 'plan.retried', receipt: 'rcp_1', Authorization: '[covered]', token: '[covered]' },
    ],
    ['info', 'what a program of the user writes', {}],
  ])
})
