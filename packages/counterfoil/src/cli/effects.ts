import { CounterfoilError, effectStates } from '../domain/index.ts'
import { listUnknown, type ShownEffect, shown } from '../operate/index.ts'
import type { EffectView } from '../store/index.ts'
import { acting, operatorOption, viewerOf } from './acting.ts'
import { type Command, exit, type Output } from './command.ts'
import { printTable, stateStyle, time } from './print.ts'
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
  options: { ...pageOptions, ...operatorOption, recipient: { type: 'string' } },
  run: acting(async (app, invocation) => {
    const { options, out } = invocation
    const { recipient } = options
    const unknown = await listUnknown(app, viewerOf(app, invocation), {
      ...pageOf(options),
      ...(typeof recipient === 'string' ? { recipient } : {}),
    })
    out.json({
      effects: unknown.map(({ effect, next, actions, proposal }) => ({ ...effect, next, actions, proposal })),
    })
    if (unknown.length === 0) out.line('No effect is unknown.', 'good')
    else
      printEffects(
        unknown.map(({ effect }) => effect),
        out,
      )
    for (const { effect, next, actions } of unknown) {
      const offered = actions.filter((action) => action.offered).map(({ act }) => act)
      out.line(`${effect.id}: ${next.why}`)
      out.line(`  safe now: ${offered.join(', ') || 'nothing'}`, 'quiet')
    }
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
    const app = await invocation.app()
    const told = await Promise.all(stories.map((story) => shown(app, story)))
    invocation.out.json({ effects: told })
    for (const effect of told) printEffect(effect, invocation.out)
    return exit.done
  }),
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
  const head = ['EFFECT', 'STATE', 'RECIPIENT', 'NAME', 'KEY', 'ATTEMPTS', 'CHANGED']
  printTable(out, head, rows, ([, state]) => stateStyle(state))
}

export function printEffect({ effect, timeline, next, actions, proposal }: ShownEffect, out: Output): void {
  out.line(`${effect.key}`, 'strong')
  out.line(
    `  ${effect.name} at ${effect.recipient}: ${effect.state}${effect.disputed ? ', DISPUTED' : ''}${effect.escalated ? ', waits for a person' : ''}`,
    stateStyle(effect.disputed ? 'disputed' : effect.state),
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
  if (proposal !== null) {
    out.line()
    out.line(`  proposed by ${proposal.by}: ${proposal.act}, because ${proposal.reason}`, 'warning')
    out.line(`  another approver: effects approve ${effect.id} --proposal ${proposal.decision}`)
  }
  if (actions.some(({ offered }) => offered)) {
    out.line()
    for (const { act, offered, why } of actions) {
      out.line(`  ${offered ? act : `not ${act}`}: ${why}`, offered ? undefined : 'quiet')
    }
  }
  out.line()
}
