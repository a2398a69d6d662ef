import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError, type EffectId } from '../domain/index.ts'
import type { EffectQuery, EffectStory, EffectView } from '../store/index.ts'
import { type Act, auditRow, idUsed } from './decision.ts'
import { actionsOf, type EffectAction } from './effect-actions.ts'
import { authorise, type Operator } from './operator.ts'
import { type Proposal, proposalFor } from './proposal.ts'
import { type ToldEffect, tell } from './story.ts'

/** An effect with all that is known of it and all that may be done about it. */
export interface ShownEffect extends ToldEffect {
  readonly actions: readonly EffectAction[]
  /** A decision that waits for its second person. */
  readonly proposal: Proposal | null
}

export interface EffectPage {
  readonly effects: readonly EffectView[]
  /** Where the next page begins; null when there is none. */
  readonly next: EffectId | null
}

/** Effects that one page looks at, at most: what it costs has a limit, whatever the filter leaves over. */
export const effectReach = 5_000

/** Newest first. A page may be short and still not the last. @throws CounterfoilError `not_authorised` */
export async function listEffects(
  { store }: Counterfoil,
  operator: Operator,
  query: Omit<EffectQuery, 'within'>,
): Promise<EffectPage> {
  authorise(operator, 'effects.list')
  // Of those confirmed no index is kept; every other state has one, and is walked to its end.
  const filters = query.state === 'confirmed'
  const effects = await store.listEffects(filters ? { ...query, within: effectReach } : query)
  if (effects.length === query.limit) return { effects, next: effects.at(-1)!.id }
  return { effects, next: filters ? await store.endOfEffects({ ...query, within: effectReach }) : null }
}

/** By effect id. @throws CounterfoilError `not_authorised`, `not_found` */
export async function showEffect(app: Counterfoil, operator: Operator, id: string): Promise<ShownEffect> {
  authorise(operator, 'effects.show')
  return await shown(app, await effectOf(app, id))
}

/** Effects that are unknown, with what may be done about each. @throws CounterfoilError `not_authorised` */
export async function listUnknown(
  app: Counterfoil,
  operator: Operator,
  query: Omit<EffectQuery, 'state' | 'within'>,
): Promise<ShownEffect[]> {
  authorise(operator, 'effects.list')
  const effects = await app.store.listEffects({ ...query, state: 'unknown' })
  return await Promise.all(effects.map((effect) => shown(app, { effect, causes: [] })))
}

/**
 * The opened request of an effect, as it is stored and sent. The read is in the audit log before this promise fulfils.
 *
 * @returns null when retention removed it
 * @throws CounterfoilError `not_authorised`, `not_found`, `decision_*`, `vault_*`
 */
export async function readEffectRequest(app: Counterfoil, id: string, act: Act): Promise<Uint8Array | null> {
  const row = auditRow(act, 'effects.request', { subject: id, at: app.clock.now() })
  const { effect } = await effectOf(app, id)
  const audited = await app.store.audit({ ...row, result: { fingerprint: effect.fingerprint } })
  if (audited.kind === 'other') throw idUsed(audited.existing)
  return await app.readRequest(effect)
}

export async function shown(app: Counterfoil, story: EffectStory): Promise<ShownEffect> {
  const now = app.clock.now()
  return {
    ...tell(app, story, now),
    actions: actionsOf(app, story.effect, now),
    proposal: await proposalFor(app, story.effect),
  }
}

/** @throws CounterfoilError `not_found` */
export async function effectOf(app: Counterfoil, id: string): Promise<EffectStory> {
  const story = (await app.store.showEffects(id)).find(({ effect }) => effect.id === id)
  if (story !== undefined) return story
  throw new CounterfoilError('not_found', `There is no effect with the id '${id.slice(0, 100)}'.`, {
    hint: 'Search for it by any of its names: counterfoil search NAME',
  })
}
