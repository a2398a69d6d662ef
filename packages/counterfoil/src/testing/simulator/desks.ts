import type { Counterfoil } from '../../counterfoil.ts'
import {
  assign,
  type Decision,
  decideOnEffect,
  dismiss,
  type EffectAct,
  listUnknown,
  type Operator,
  reprocess,
} from '../../operate/index.ts'

export const operator: Operator = { name: 'ada', role: 'approver' }

/** Something that an operator looked at, and may decide on. */
export interface Seen {
  readonly id: string
  readonly version: number
  /** For the story. */
  readonly about: string
  /** One of these is drawn; what stands here twice, twice as often. */
  readonly acts: readonly string[]
}

/** One kind of thing that operators work on. */
export interface Desk {
  look(app: Counterfoil): Promise<readonly Seen[]>
  /** @returns the outcome that the operator is told */
  decide(app: Counterfoil, id: string, act: string, decision: Decision): Promise<string>
}

export const quarantine: Desk = {
  async look({ store }) {
    const { entries } = await store.listQuarantine({ limit: 20, state: 'waiting' })
    const acts = ['reprocess', 'reprocess', 'dismiss', 'assign']
    return entries.map(({ id, version, reason }) => ({ id, version, about: reason, acts }))
  },
  async decide(app, id, act, decision) {
    if (act === 'assign') return (await assign(app, id, 'ada', decision)).outcome
    return (await (act === 'dismiss' ? dismiss : reprocess)(app, id, decision)).outcome
  },
}

/** How much more often than others an act is chosen. */
const weights: Partial<Record<EffectAct, number>> = { 'place-tombstone': 3, refuse: 2 }

/** Their evidence is what they believe to have seen, and may be wrong: what contradicts it has to be told. */
export const effects: Desk = {
  async look(app) {
    return (await listUnknown(app, operator, { limit: 20 })).map(({ effect, actions }) => ({
      id: effect.id,
      version: effect.version,
      about: `${effect.recipient} ${effect.key}`,
      acts: actions.flatMap(({ act, offered }) => (offered ? new Array(weights[act] ?? 1).fill(act) : [])),
    }))
  },
  async decide(app, id, act, decision) {
    const evidence = { says: 'seen in the console of the recipient' }
    return (await decideOnEffect(app, id, act as EffectAct, { ...decision, evidence })).outcome
  },
}
