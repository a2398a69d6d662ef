import { inWords } from '../domain/index.ts'
import {
  applyRetention,
  erase,
  planRetention,
  type RetentionHorizons,
  type RetentionPlan,
  retentionHorizons,
} from '../operate/index.ts'
import { actOf, actOptions, actUsage, operatorOption, viewerOf } from './acting.ts'
import { type Command, exit, type Invocation, type Output } from './command.ts'
import { table, time } from './print.ts'

export const retentionPlan: Command = {
  name: 'retention plan',
  summary: 'Count what retention would take now, step by step; changes nothing',
  usage: 'counterfoil retention plan',
  example: 'counterfoil retention plan --json',
  options: operatorOption,
  run: withVault(async (app, invocation) => {
    const plan = await planRetention(app, viewerOf(app, invocation))
    const horizons = retentionHorizons(app)
    invocation.out.json({ horizons, plan })
    printPlan(invocation.out, plan, 'would go')
    return exit.done
  }),
}

export const retentionApply: Command = {
  name: 'retention apply',
  summary: 'Take what is done with, in small batches; the same decision goes on after a crash',
  usage: `counterfoil retention apply ${actUsage}`,
  example: "counterfoil retention apply --operator dana --reason 'monthly, after the audit'",
  options: actOptions,
  run: withVault(async (app, invocation) => {
    const act = actOf(app, invocation)
    const { out } = invocation
    // Before the first batch: with it the run goes on after a crash.
    out.line(`decision ${act.decision}`)
    const plan = await applyRetention(app, act)
    out.json({ decision: act.decision, plan })
    printPlan(out, plan, 'went')
    return exit.done
  }),
}

export const retentionErase: Command = {
  name: 'retention erase',
  summary: 'Destroy payloads of one person and keep the evidence; nothing of an effect that is not final',
  usage: `counterfoil retention erase [--receipt ID …] [--effect NAME …] ${actUsage}`,
  example:
    "counterfoil retention erase --effect customer/42/seat --operator dana --reason 'request 2026-118' --decision erase-118",
  options: {
    ...actOptions,
    receipt: { type: 'string', multiple: true },
    effect: { type: 'string', multiple: true },
  },
  run: withVault(async (app, invocation) => {
    const { receipt = [], effect = [] } = invocation.options
    const subject = { receipts: receipt as readonly string[], effects: effect as readonly string[] }
    const act = actOf(app, invocation)
    const erased = await erase(app, subject, act)
    invocation.out.json({ decision: act.decision, ...erased })
    const { payloads, requests, repeated } = erased
    invocation.out.line(
      `${payloads} payloads and ${requests} requests destroyed${repeated ? ' before, by this decision' : ''}; their evidence stays`,
    )
    return exit.done
  }),
}

/** A command on the open store and its vault: without it nothing can be forgotten. */
function withVault(
  act: (app: Awaited<ReturnType<Invocation['app']>>, invocation: Invocation) => Promise<number>,
): Command['run'] {
  return async (invocation) => {
    const app = await invocation.app()
    await app.openStore()
    try {
      return await act(app, invocation)
    } finally {
      await app.store.close()
    }
  }
}

function printPlan(out: Output, { steps, boundary, store }: RetentionPlan, verb: string): void {
  const rows = steps.map(({ step, until, count, bytes }) => [
    step,
    until === null ? 'kept for ever' : `done with by ${time(until)}`,
    `${count} ${verb}`,
    `${bytes} bytes`,
  ])
  for (const line of table(rows)) out.line(line)
  const closed =
    boundary === null ? 'nothing is closed to replay' : `before ${time(boundary)} nothing unknown is accepted`
  out.line(`boundary: ${closed}`)
  const { markers, size } = store
  out.line(`markers: ${markers.receipts} of receipts, ${markers.effects} of effects`)
  out.line(`size: ${size.bytes} bytes${size.freeBytes === null ? '' : `, ${size.freeBytes} of them free`}`)
}

/** For `check`: the sum, and the table behind it. */
export function printHorizons(horizons: RetentionHorizons | null, out: Output): void {
  out.line()
  if (horizons === null) {
    out.line('retention: not configured; nothing is ever removed')
    return
  }
  const { needed, periods, everyMs, combinations } = horizons
  out.line(`retention: evidence is needed for ${inWords(needed.ms)}: ${needed.why}`)
  const all = [
    ...horizons.producers,
    horizons.queue,
    ...horizons.recipients,
    horizons.operator,
    horizons.audit,
  ]
  for (const line of table(all.map(({ name, ms, why }) => [`  ${name}`, inWords(ms), why]))) out.line(line)
  const sums = combinations.map((one) => [
    `  ${one.producer} → ${one.recipient}`,
    ...[one.producerMs, one.queueMs, one.recipientMs, one.operatorMs].map(inWords),
    `= ${inWords(one.totalMs)}`,
  ])
  out.line('  an event can come again, wait, be remembered, and be settled by people:')
  for (const line of table(sums)) out.line(line)
  const forMs = (ms: number | null) => (ms === null ? 'for ever' : `for ${inWords(ms)}`)
  out.line(`  kept: payloads ${forMs(periods.payloadMs)}, evidence ${forMs(periods.evidenceMs)},`)
  out.line(`    markers of receipts ${forMs(periods.boundaryMs)}, of effects ${forMs(periods.effectKeysMs)}`)
  out.line(`  applied: ${everyMs === null ? 'by an operator' : `every ${inWords(everyMs)}`}`)
}
