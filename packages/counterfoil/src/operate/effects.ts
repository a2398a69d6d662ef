import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
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

/** @throws CounterfoilError `not_authorised` */
export async function listEffects(
  app: Counterfoil,
  operator: Operator,
  query: EffectQuery,
): Promise<EffectView[]> {
  authorise(operator, 'effects.list')
  return await app.store.listEffects(query)
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
  query: Omit<EffectQuery, 'state'>,
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
