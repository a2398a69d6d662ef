import { CounterfoilError, type Instant, isLine } from '../domain/index.ts'
import type { AuditRecord, NewAudit } from '../store/index.ts'
import { authorise, type Operator, type OperatorAct } from './operator.ts'

/** Who does something, and why. Every act that leaves a trace takes it. */
export interface Act {
  readonly operator: Operator
  /** The operator's own words; at most 500 characters. */
  readonly reason: string
  /** Makes the act idempotent: the same one under the same id changes nothing and answers the same. */
  readonly decision: string
}

/** An act on one record, decided on a view of it. */
export interface Decision extends Act {
  readonly expectedVersion: number
}

const decisionId = /^[A-Za-z0-9._:-]{1,100}$/
const maxReason = 500

/**
 * The audit row of an act that is allowed and complete.
 *
 * @throws CounterfoilError `not_authorised`, `decision_invalid`
 */
export function auditRow(
  { operator, reason, decision }: Act,
  act: OperatorAct,
  about: { readonly subject: string; readonly at: Instant; readonly detail?: NewAudit['detail'] },
): NewAudit {
  authorise(operator, act)
  if (!isLine(operator.name, 100)) throw invalid('names no operator', 'Give a name of 1 to 100 characters.')
  if (!isLine(reason, maxReason)) {
    throw invalid('gives no reason', `Say why in 1 to ${maxReason} characters, on one line.`)
  }
  if (!decisionId.test(decision)) {
    throw invalid(
      'has no usable id',
      'An id has 1 to 100 letters, digits or . _ : - and is new for each decision.',
    )
  }
  const { name, role } = operator
  const { subject, at, detail = {} } = about
  return { at, operator: name, role, act, subject, decision, reason, detail }
}

/** @throws CounterfoilError `decision_invalid` */
export function checkVersion(expectedVersion: number): void {
  if (!Number.isSafeInteger(expectedVersion) || expectedVersion < 1) {
    throw invalid('names no version', 'Give the version that the record showed when you decided.')
  }
}

export function idUsed({ decision, act, subject, operator }: AuditRecord): CounterfoilError {
  return new CounterfoilError(
    'decision_id_used',
    `Under the id '${decision}' ${operator} decided '${act}' on ${subject}.`,
    { hint: 'Give each decision an id of its own.' },
  )
}

function invalid(what: string, hint: string): CounterfoilError {
  return new CounterfoilError('decision_invalid', `The decision ${what}.`, { hint })
}
