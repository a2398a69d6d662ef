import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import type {
  QuarantineMove,
  QuarantinePage,
  QuarantineQuery,
  QuarantineReason,
  QuarantineResult,
  QuarantineStory,
  QuarantineView,
} from '../store/index.ts'
import { type Act, auditRow, checkVersion, type Decision, idUsed } from './decision.ts'
import { authorise, type Operator, type OperatorAct } from './operator.ts'

/** What came of a decision on one entry, and the entry as it is now. */
export interface QuarantineAnswer extends QuarantineStory {
  readonly outcome: QuarantineResult['outcome']
  /** The same decision was made before; nothing was changed now. */
  readonly repeated: boolean
}

/** Entries of these reasons start no work whatever is deployed (design.md section 3, Intake). */
export const neverReprocessed: ReadonlySet<QuarantineReason> = new Set([
  'identity-conflict',
  'beyond-retention',
])

/** @throws CounterfoilError `not_authorised` */
export async function listQuarantine(
  app: Counterfoil,
  operator: Operator,
  query: QuarantineQuery,
): Promise<QuarantinePage> {
  authorise(operator, 'quarantine.list')
  return await app.store.listQuarantine(query)
}

/** One entry without its payload. @throws CounterfoilError `not_authorised`, `not_found` */
export async function showQuarantine(
  app: Counterfoil,
  operator: Operator,
  id: string,
): Promise<QuarantineStory> {
  authorise(operator, 'quarantine.show')
  return await entryOf(app, id)
}

/**
 * The opened payload of an entry. The read is in the audit log before this promise fulfils.
 *
 * @returns null when retention removed it
 * @throws CounterfoilError `not_authorised`, `not_found`, `decision_*`, `vault_*`
 */
export async function readQuarantinePayload(
  app: Counterfoil,
  id: string,
  act: Act,
): Promise<{ readonly contentType: string; readonly payload: Uint8Array } | null> {
  const row = auditRow(act, 'quarantine.payload', { subject: id, at: app.clock.now() })
  const { entry } = await entryOf(app, id)
  const receipt = await receiptOf(app, entry)
  const audited = await app.store.audit({ ...row, result: { rawFingerprint: receipt.rawFingerprint } })
  if (audited.kind === 'other') throw idUsed(audited.existing)
  const payload = await app.readPayload(receipt)
  return payload === null ? null : { contentType: receipt.contentType, payload }
}

/** @param assignee null: nobody */
export async function assign(
  app: Counterfoil,
  id: string,
  assignee: string | null,
  decision: Decision,
): Promise<QuarantineAnswer> {
  if (assignee !== null && !/^[^\p{Cc}]{1,100}$/u.test(assignee)) {
    throw new CounterfoilError('decision_invalid', 'The assignee has no usable name.', {
      hint: 'Give a name of 1 to 100 characters.',
    })
  }
  return await decide(app, 'quarantine.assign', id, decision, async () => ({ to: 'assigned', assignee }), {
    assignee,
  })
}

/** It never starts work. */
export async function dismiss(app: Counterfoil, id: string, decision: Decision): Promise<QuarantineAnswer> {
  return await decide(app, 'quarantine.dismiss', id, decision, async () => ({ to: 'dismissed' }))
}

/**
 * Lets an entry start work by the code that is deployed now: its receipt is accepted again and planned as any
 * other. What still does not fit stays, with the new fault as a note.
 *
 * @throws CounterfoilError `not_authorised`, `not_found`, `decision_*`, `quarantine_settled`, `reprocess_refused`, `vault_*`
 */
export async function reprocess(app: Counterfoil, id: string, decision: Decision): Promise<QuarantineAnswer> {
  return await decide(app, 'quarantine.reprocess', id, decision, (entry) => {
    if (!neverReprocessed.has(entry.reason)) return startMove(app, entry)
    throw new CounterfoilError('reprocess_refused', `Entry ${id} is here for '${entry.reason}'.`, {
      hint: 'Such an event could act twice. Dismiss it; if it is genuine, its producer sends it under a new id.',
    })
  })
}

/** Whether an entry can start work with today's schemas and triggers. */
export async function startMove(app: Counterfoil, entry: QuarantineView): Promise<QuarantineMove> {
  const receipt = await receiptOf(app, entry)
  const payload = await app.readPayload(receipt)
  if (payload === null) {
    return { to: 'kept', reason: entry.reason, detail: { why: 'its payload was removed by retention' } }
  }
  const opened = await app.openEvent(receipt, payload)
  return opened.kind === 'event'
    ? { to: 'released' }
    : { to: 'kept', reason: opened.reason, detail: opened.detail }
}

async function decide(
  app: Counterfoil,
  act: OperatorAct,
  id: string,
  decision: Decision,
  moveOf: (entry: QuarantineView) => Promise<QuarantineMove>,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<QuarantineAnswer> {
  const { expectedVersion } = decision
  checkVersion(expectedVersion)
  const at = app.clock.now()
  const audit = auditRow(decision, act, { subject: id, at, detail: { expectedVersion, ...detail } })
  const { entry } = await entryOf(app, id)
  // What has moved since is not looked at again: a decision that was made before is answered by its audit row.
  const moved = entry.state !== 'waiting' || entry.version !== expectedVersion
  const move: QuarantineMove = moved ? { to: 'dismissed' } : await moveOf(entry)
  // No entry has the version 0.
  const entries = [{ id: entry.id, expectedVersion: moved ? 0 : expectedVersion, move }]
  const decided = await app.store.decideQuarantine({ audit, entries, whole: true })
  if (decided.kind === 'other') throw idUsed(decided.existing)
  const [result] = decided.results
  if (decided.kind === 'refused') throw refused(id, expectedVersion, result!)
  return { ...(await entryOf(app, id)), outcome: result!.outcome, repeated: decided.repeated }
}

function refused(id: string, expected: number, { outcome, version }: QuarantineResult): CounterfoilError {
  if (outcome === 'settled') {
    return new CounterfoilError('quarantine_settled', `Entry ${id} was released or dismissed before.`, {
      hint: `See what became of it: counterfoil quarantine show ${id}`,
    })
  }
  return new CounterfoilError(
    'decision_stale',
    `Entry ${id} is at version ${version}, and the decision was made on version ${expected}.`,
    { hint: 'Look at it again, and decide on what it says now.' },
  )
}

async function entryOf(app: Counterfoil, id: string): Promise<QuarantineStory> {
  const story = await app.store.showQuarantine(id)
  if (story !== null) return story
  throw new CounterfoilError('not_found', `There is no quarantine entry '${id}'.`, {
    hint: 'List them: counterfoil quarantine list',
  })
}

async function receiptOf(app: Counterfoil, { receipt, id }: QuarantineView) {
  const story = await app.store.showReceipt(receipt)
  if (story === null) throw new CounterfoilError('internal', `Entry ${id} has no receipt ${receipt}.`)
  return story.receipt
}
