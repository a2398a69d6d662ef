import type { History } from '../history.ts'
import { checkActs } from './acts.ts'
import { checkAlerts } from './alerts.ts'
import { checkBackfill } from './backfill.ts'
import { checkCalm } from './calm.ts'
import { checkIdentity } from './identity.ts'
import { checkIntake } from './intake.ts'
import { checkLedger } from './ledger.ts'
import { checkSecrets } from './secrets.ts'
import type { Check, Violation } from './violation.ts'

export { type Invariant, invariants, type Violation } from './violation.ts'

const checks: readonly Check[] = [
  checkIntake,
  checkIdentity,
  checkActs,
  checkLedger,
  checkSecrets,
  checkCalm,
  checkBackfill,
  checkAlerts,
]

/** Holds a history against I1 to I22 of design.md section 4. Empty when all of them hold. */
export function violationsOf(history: History): Violation[] {
  const violations: Violation[] = []
  for (const check of checks)
    check(history, (invariant, about, says) => violations.push({ invariant, about, says }))
  return violations
}
