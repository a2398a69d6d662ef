import { CounterfoilError, effectStates } from '../domain/index.ts'
import { type ToldEffect, tell } from '../operate/index.ts'
import type { EffectView } from '../store/index.ts'
import { type Command, exit, type Invocation, type Output } from './command.ts'
import { table, time } from './print.ts'
import { oneName, pageOf, pageOptions, reading } from './reading.ts'
import { oneOf } from './receipts.ts'

export const effectsList: Command = {
  name: 'effects list',
  summary: 'Effects, newest first',
  usage: 'counterfoil effects list [--recipient NAME] [--state STATE] [--limit N] [--before ID]',
  example: 'counterfoil effects list --state confirmed',
  options: { ...pageOptions, recipient: { type: 'string' }, state: { type: 'string' } },
  run: reading(async (store, { options, out }) => {
    const { recipient, state } = options
    const effects = await store.listEffects({
      ...pageOf(options),
      ...(typeof recipient === 'string' ? { recipient } : {}),
      ...(typeof state === 'string' ? { state: oneOf('--state', state, effectStates) } : {}),
    })
    out.json({ effects })
    printEffects(effects, out)
    return exit.done
  }),
}

export const unknownList: Command = {
  name: 'unknown list',
  summary: 'Effects whose outcome is not known, with what may happen next',
  usage: 'counterfoil unknown list [--recipient NAME] [--limit N] [--before ID]',
  example: 'counterfoil unknown list --json',
  options: { ...pageOptions, recipient: { type: 'string' } },
  run: reading(async (store, invocation) => {
    const { options, out } = invocation
    const { recipient } = options
    const effects = await store.listEffects({
      ...pageOf(options),
      ...(typeof recipient === 'string' ? { recipient } : {}),
      state: 'unknown',
    })
    const app = await invocation.app()
    const told = effects.map((effect) => ({
      ...effect,
      next: tell(app, { effect, causes: [] }, Date.now()).next,
    }))
    out.json({ effects: told })
    if (effects.length === 0) out.line('No effect is unknown.')
    else printEffects(effects, out)
    for (const effect of told) out.line(`${effect.id}: ${effect.next.why}`)
    return exit.done
  }),
}

export const effectsShow: Command = {
  name: 'effects show',
  summary: 'The whole story of an effect: causes, attempts, evidence, and what may happen next',
  usage: 'counterfoil effects show EFFECT-ID | EFFECT-KEY | IDEMPOTENCY-KEY',
  example: 'counterfoil effects show invoice/481/collect/revision/3',
  run: reading(async (store, invocation) => {
    const name = oneName(invocation, 'an effect by its id, key or idempotency key')
    const stories = await store.showEffects(name)
    if (stories.length === 0) {
      throw new CounterfoilError('not_found', `There is no effect '${name}'.`, {
        hint: 'List them: counterfoil effects list',
      })
    }
    const told = await tellAll(invocation, stories)
    invocation.out.json({ effects: told })
    for (const effect of told) printStory(effect, invocation.out)
    return exit.done
  }),
}

async function tellAll(
  invocation: Invocation,
  stories: readonly Parameters<typeof tell>[1][],
): Promise<ToldEffect[]> {
  const app = await invocation.app()
  return stories.map((story) => tell(app, story, Date.now()))
}

function printEffects(effects: readonly EffectView[], out: Output): void {
  const rows = effects.map((e) => [
    e.id,
    e.state + (e.disputed ? ' (disputed)' : ''),
    e.recipient,
    e.name,
    e.key,
    String(e.attempts.length),
    time(e.changedAt),
  ])
  for (const line of table([['EFFECT', 'STATE', 'RECIPIENT', 'NAME', 'KEY', 'ATTEMPTS', 'CHANGED'], ...rows]))
    out.line(line)
}

function printStory({ effect, timeline, next }: ToldEffect, out: Output): void {
  out.line(`${effect.key}`)
  out.line(
    `  ${effect.name} at ${effect.recipient}: ${effect.state}${effect.disputed ? ', DISPUTED' : ''}${effect.escalated ? ', waits for a person' : ''}`,
  )
  out.line(`  effect ${effect.id}, version ${effect.version}`)
  out.line(`  idempotency key ${effect.idempotencyKey}`)
  out.line(`  fingerprint ${effect.fingerprint}`)
  if (effect.order !== null) out.line(`  order: version ${effect.order.version} in ${effect.order.domain}`)
  out.line()
  for (const { at, text } of timeline) out.line(`  ${time(at)}  ${text}`)
  out.line()
  out.line(`  next: ${next.kind}${next.at === null || next.kind === 'done' ? '' : `, at ${time(next.at)}`}`)
  out.line(`  ${next.why}`)
  out.line()
}
