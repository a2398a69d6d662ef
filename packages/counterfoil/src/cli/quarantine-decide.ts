import { CounterfoilError } from '../domain/index.ts'
import {
  assign,
  type DryRun,
  dismiss,
  dryRunMany,
  type ManyAct,
  type ManyRun,
  type QuarantineAnswer,
  type QuarantineFilter,
  reprocess,
  runMany,
} from '../operate/index.ts'
import { acting, actOf, actOptions, actUsage, decisionOf, operatorOf } from './acting.ts'
import { type Command, exit, type Invocation, type Output } from './command.ts'
import { printStory, whereOf, whereOption, whereUsage } from './quarantine.ts'
import { oneName } from './reading.ts'

const oneOptions = { ...actOptions, version: { type: 'string' } } as const
const manyOptions = {
  ...oneOptions,
  ...whereOption,
  'dry-run': { type: 'boolean' },
  digest: { type: 'string' },
} as const

export const quarantineAssign: Command = {
  name: 'quarantine assign',
  summary: 'Say who looks after an entry; - for nobody',
  usage: `counterfoil quarantine assign ENTRY --to NAME --version N ${actUsage}`,
  example:
    "counterfoil quarantine assign qua_01KBDZ3V6Q0000000000000000 --to dana --version 1 --operator dana --reason 'mine'",
  options: { ...oneOptions, to: { type: 'string' } },
  run: acting(async (app, invocation) => {
    const id = oneName(invocation, 'a quarantine entry')
    const { to } = invocation.options
    if (typeof to !== 'string') throw new CounterfoilError('usage_invalid', 'Say whom: --to NAME, or --to -')
    return answered(
      invocation.out,
      await assign(app, id, to === '-' ? null : to, decisionOf(app, invocation)),
    )
  }),
}

export const quarantineReprocess: Command = deciding('reprocess', {
  summary: 'Let entries start work by the code that is deployed now, or keep them with the new fault',
  decide: reprocess,
})

export const quarantineDismiss: Command = deciding('dismiss', {
  summary: 'Decide that entries never start work',
  decide: dismiss,
})

function deciding(
  act: ManyAct['act'],
  { summary, decide }: { readonly summary: string; readonly decide: typeof reprocess },
): Command {
  return {
    name: `quarantine ${act}`,
    summary,
    usage: [
      `counterfoil quarantine ${act} ENTRY --version N ${actUsage}`,
      `         counterfoil quarantine ${act} ${whereUsage} --dry-run --operator NAME`,
      `         counterfoil quarantine ${act} [--where NAME=VALUE …] --digest DIGEST ${actUsage}`,
    ].join('\n'),
    example: `counterfoil quarantine ${act} qua_01KBDZ3V6Q0000000000000000 --version 1 --operator dana --reason 'known by now'`,
    options: manyOptions,
    run: acting(async (app, invocation) => {
      if (invocation.positionals.length > 0) {
        const id = oneName(invocation, 'a quarantine entry')
        return answered(invocation.out, await decide(app, id, decisionOf(app, invocation)))
      }
      const { options, out } = invocation
      const many = { act, filter: filterOf(invocation, app.clock.now()) }
      if (options['dry-run'] === true) {
        return surveyed(out, await dryRunMany(app, operatorOf(app, invocation), many))
      }
      if (typeof options.digest !== 'string') {
        throw new CounterfoilError('usage_invalid', 'Name an entry, or decide on many: --dry-run first.', {
          hint: `See: counterfoil quarantine ${act} --help`,
        })
      }
      const decision = actOf(app, invocation)
      // Before the first batch: with it the run goes on after a crash.
      out.line(`decision ${decision.decision}`)
      const run = await runMany(app, { ...many, digest: options.digest }, decision, {
        onProgress: ({ released, kept, dismissed }) => out.progress(released + kept + dismissed, null),
      })
      return ran(out, decision.decision, run)
    }),
  }
}

/** @throws CounterfoilError `usage_invalid` */
function filterOf(invocation: Invocation, now: number): QuarantineFilter {
  const { state = 'waiting', ...filter } = whereOf(invocation, now)
  if (state === 'waiting') return filter
  throw new CounterfoilError('usage_invalid', `Entries in the state '${state}' cannot be decided on.`)
}

function answered(out: Output, { outcome, repeated, entry, notes }: QuarantineAnswer): number {
  out.json({ outcome, repeated, quarantine: entry, notes })
  out.line(`${outcome}${repeated ? ' before, by this decision' : ''}`)
  printStory(out, { entry, notes })
  return outcome === 'kept' ? exit.problem : exit.done
}

function surveyed(out: Output, run: DryRun): number {
  out.json(run)
  const counts = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'none'
  out.line(`${run.entries} entries would be decided on; nothing was changed.`)
  out.line(`  by reason    ${counts(run.byReason)}`)
  out.line(`  by producer  ${counts(run.byProducer)}`)
  out.line(`  by type      ${counts(run.byType)}`)
  if (run.never > 0) out.line(`  ${run.never} more are of a reason that is never reprocessed`)
  const { until } = run.filter
  if (until !== undefined)
    out.line(`  that came until ${new Date(until).toISOString()}: give --where until with that time`)
  out.line(`To do it, the same with: --digest '${run.digest}' --reason TEXT`)
  return exit.done
}

function ran(out: Output, decision: string, run: ManyRun): number {
  out.json({ decision, ...run })
  const { state, released, kept, dismissed, stale } = run
  if (state === 'proposed') {
    out.line('proposed: nothing was changed. Another approver has to give the same command.')
    return exit.done
  }
  out.line(`${released} released, ${kept} kept with a new note, ${dismissed} dismissed`)
  if (stale > 0) out.line(`${stale} had changed since and were left alone`)
  return kept + stale === 0 ? exit.done : exit.problem
}
