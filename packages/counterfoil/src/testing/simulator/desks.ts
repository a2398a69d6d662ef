import type { Counterfoil } from '../../counterfoil.ts'
import {
  assign,
  type Decision,
  decideOnEffect,
  dismiss,
  type EffectAct,
  reprocess,
} from '../../operate/index.ts'

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

const aboutUnknown: readonly EffectAct[] = [
  'ask',
  'repeat',
  'place-tombstone',
  'place-tombstone',
  'place-tombstone',
  'confirm',
  'refuse',
  'refuse',
  'withdraw',
]

/** Their evidence is what they believe to have seen, and may be wrong: what contradicts it has to be told. */
export const effects: Desk = {
  async look({ store }) {
    const open = (await store.listEffects({ limit: 50 })).filter(
      ({ state }) => state === 'unknown' || state === 'planned',
    )
    return open.map(({ id, version, recipient, key, state }) => ({
      id,
      version,
      about: `${recipient} ${key}`,
      acts: state === 'unknown' ? aboutUnknown : ['withdraw'],
    }))
  },
  async decide(app, id, act, decision) {
    const evidence = { says: 'seen in the console of the recipient' }
    return (await decideOnEffect(app, id, act as EffectAct, { ...decision, evidence })).outcome
  },
}
