import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError, inWords } from '../domain/index.ts'
import {
  applyRetention,
  type ErasureQuery,
  erase,
  planErasure,
  planRetention,
  type RetentionHorizons,
  type RetentionPlan,
  retentionHorizons,
  runErasure,
} from '../operate/index.ts'
import { actOf, actOptions, actUsage, operatorOf, operatorOption, viewerOf, withVault } from './acting.ts'
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

const queryUsage = '(--key-prefix TEXT | --pointer POINTER --equals VALUE [--producer NAME])'

export const retentionErase: Command = {
  name: 'retention erase',
  summary: 'Destroy payloads of one person and keep the evidence; nothing of an effect that is not final',
  usage: [
    `counterfoil retention erase [--receipt ID …] [--effect NAME …] ${actUsage}`,
    `         counterfoil retention erase ${queryUsage} --dry-run --operator NAME`,
    `         counterfoil retention erase ${queryUsage} --digest DIGEST ${actUsage}`,
  ].join('\n'),
  example:
    "counterfoil retention erase --effect customer/42/seat --operator dana --reason 'request 2026-118' --decision erase-118",
  options: {
    ...actOptions,
    receipt: { type: 'string', multiple: true },
    effect: { type: 'string', multiple: true },
    'key-prefix': { type: 'string' },
    pointer: { type: 'string' },
    equals: { type: 'string' },
    producer: { type: 'string' },
    'dry-run': { type: 'boolean' },
    digest: { type: 'string' },
  },
  run: withVault(async (app, invocation) => {
    const query = queryOf(invocation)
    if (query !== null) return await eraseMany(app, query, invocation)
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

/** Null: single records are named. @throws CounterfoilError `usage_invalid` */
function queryOf({ options }: Invocation): ErasureQuery | null {
  const { 'key-prefix': keyPrefix, pointer, equals, producer } = options
  const isByKey = typeof keyPrefix === 'string'
  const isByPayload = typeof pointer === 'string' && typeof equals === 'string'
  const isSome = [keyPrefix, pointer, equals, options['dry-run'], options.digest].some(
    (one) => one !== undefined,
  )
  if (!isSome) return null
  if (isByKey === isByPayload) {
    throw new CounterfoilError('usage_invalid', 'Say what to look for, in one of two ways.', {
      hint: `Give: ${queryUsage}`,
    })
  }
  if (isByKey) return { keyPrefix }
  const query = { pointer: pointer as string, equals: equals as string }
  return typeof producer === 'string' ? { ...query, producer } : query
}

async function eraseMany(app: Counterfoil, query: ErasureQuery, invocation: Invocation): Promise<number> {
  const { options, out } = invocation
  if (options['dry-run'] === true) {
    const plan = await planErasure(app, operatorOf(app, invocation), query)
    out.json(plan)
    const { receipts, effects, open, digest } = plan
    out.line(`${receipts} receipts and ${effects} effects are found; nothing was changed.`)
    if (open > 0) out.line(`  ${open} of them are not done with and would be left`)
    out.line(`To do it, the same with: --digest '${digest}' --reason TEXT`)
    return exit.done
  }
  if (typeof options.digest !== 'string') {
    throw new CounterfoilError('usage_invalid', 'Plan it first, with --dry-run, and give its --digest.')
  }
  const act = actOf(app, invocation)
  // Before the first batch: with it the run goes on after a crash.
  out.line(`decision ${act.decision}`)
  const run = await runErasure(app, query, options.digest, act, {
    onProgress: ({ payloads, requests }) => out.progress(payloads + requests, null),
  })
  out.json({ decision: act.decision, ...run })
  if (run.state === 'proposed') {
    out.line('proposed: nothing was destroyed. Another approver has to give the same command.')
    return exit.done
  }
  out.line(`${run.payloads} payloads and ${run.requests} requests destroyed; their evidence stays`)
  if (run.open > 0) out.line(`${run.open} were left: settle or withdraw, dismiss, then plan again`)
  return run.open === 0 ? exit.done : exit.problem
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
