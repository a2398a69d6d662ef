import type { Counterfoil } from '../counterfoil.ts'
import type { Instant } from '../domain/index.ts'
import type { AuditRecord, EffectView } from '../store/index.ts'
import type { EffectAct } from './effect-actions.ts'

/** What a decision stands on, from outside the ledger. */
export interface Evidence {
  /** What was seen and where, in the operator's words; at most 1 000 characters. */
  readonly says: string
  /** The recipient's own id of the operation. */
  readonly correlation?: string
}

/** A decision by one person that waits for another one. It lapses when the effect changes. */
export interface Proposal {
  /** Names it: the decision id of the proposal. */
  readonly decision: string
  readonly act: EffectAct
  readonly by: string
  readonly at: Instant
  readonly reason: string
  readonly evidence: Evidence | null
  /** The version of the effect that it is about. */
  readonly expectedVersion: number
}

/** Acts that a second person has to confirm, where the configuration says so: those that nothing takes back. */
const grave: ReadonlySet<EffectAct> = new Set(['place-tombstone', 'confirm', 'refuse', 'withdraw'])
/** Rows of the audit log about one effect that are looked at. */
const looked = 50

export function needsSecondPerson({ twoPersons }: Counterfoil, effect: EffectView, act: EffectAct): boolean {
  const { effects = [] } = twoPersons
  return grave.has(act) && (effects === 'all' || effects.includes(effect.name))
}

/** The proposal that waits for an effect as it is now; null when there is none. */
export async function proposalFor(app: Counterfoil, effect: EffectView): Promise<Proposal | null> {
  const { effects = [] } = app.twoPersons
  if (effects !== 'all' && !effects.includes(effect.name)) return null
  const rows = await app.store.listAudit({ subject: effect.id, limit: looked })
  const newest = rows.find(({ act }) => act === 'effects.propose' || act === 'effects.reject')
  if (newest?.act !== 'effects.propose') return null
  const proposal = toProposal(newest)
  return proposal.expectedVersion === effect.version ? proposal : null
}

function toProposal({ decision, operator, at, reason, detail }: AuditRecord): Proposal {
  const { act, evidence, expectedVersion } = detail as unknown as Pick<
    Proposal,
    'act' | 'evidence' | 'expectedVersion'
  >
  return { decision, act, by: operator, at, reason, evidence, expectedVersion }
}
