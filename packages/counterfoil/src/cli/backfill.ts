import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import {
  approveBackfill,
  beginBackfill,
  listBackfills,
  newWorker,
  type PlanRequest,
  pauseBackfill,
  planBackfill,
  progressOf,
  resumeBackfill,
  showBackfill,
  takeIn,
} from '../operate/index.ts'
import type { BackfillView } from '../store/index.ts'
import {
  acting,
  actOf,
  actOptions,
  actUsage,
  operatorOf,
  operatorOption,
  viewerOf,
  withVault,
} from './acting.ts'
import { printBackfill, progressInWords } from './backfill-print.ts'
import { type Command, exit, type Invocation, type Output } from './command.ts'
import { table, time } from './print.ts'
import { oneName } from './reading.ts'

export const backfillPlan: Command = {
  name: 'backfill plan',
  summary: 'Look through a file, a directory of stored requests or a configured list; takes nothing in',
  usage:
    'counterfoil backfill plan NAME [--from FILE|DIRECTORY --producer NAME] [--sequence POINTER [--within POINTER]] --operator NAME',
  example: 'counterfoil backfill plan march --from march.jsonl --producer stripe --operator olga',
  options: {
    ...operatorOption,
    from: { type: 'string' },
    producer: { type: 'string' },
    sequence: { type: 'string' },
    within: { type: 'string' },
  },
  run: withVault(async (app, invocation) => {
    const { out } = invocation
    const request = requestOf(invocation)
    const operator = operatorOf(app, invocation)
    const backfill = await planBackfill(app, operator, request, (items) => out.progress(items, null))
    out.json({ backfill })
    printBackfill(out, backfill)
    return backfill.plan.faults.count === 0 ? exit.done : exit.problem
  }),
}

export const backfillApprove: Command = {
  name: 'backfill approve',
  summary: 'Answer for what was planned: binds you and a reason to its digest',
  usage: `counterfoil backfill approve NAME --digest DIGEST [--accept-malformed] ${actUsage}`,
  example:
    "counterfoil backfill approve march --digest DIGEST --operator abe --reason 'lost in the outage of 3 March'",
  options: { ...actOptions, digest: { type: 'string' }, 'accept-malformed': { type: 'boolean' } },
  run: acting(async (app, invocation) => {
    const name = oneName(invocation, 'a backfill')
    const { digest } = invocation.options
    if (typeof digest !== 'string') {
      throw new CounterfoilError('usage_invalid', 'Give the digest that the plan shows: --digest DIGEST.')
    }
    const acceptMalformed = invocation.options['accept-malformed'] === true
    const answer = await approveBackfill(app, name, { digest, acceptMalformed }, actOf(app, invocation))
    return answered(app, invocation.out, answer)
  }),
}

export const backfillRun: Command = {
  name: 'backfill run',
  summary: 'Take in what was approved, here or in the server; goes on where it stands',
  usage: `counterfoil backfill run NAME [--rate N/s] [--detach] ${actUsage}`,
  example: "counterfoil backfill run march --rate 200/s --operator olga --reason 'approved by abe'",
  options: { ...actOptions, rate: { type: 'string' }, detach: { type: 'boolean' } },
  run: withVault(async (app, invocation) => {
    const name = oneName(invocation, 'a backfill')
    const operator = viewerOf(app, invocation)
    const { state } = await showBackfill(app, operator, name)
    // The same command again follows what it has begun.
    if (state !== 'running' && state !== 'done') {
      const answer = await beginBackfill(app, name, rateOf(invocation) ?? null, actOf(app, invocation))
      if (invocation.options.detach === true) return answered(app, invocation.out, answer)
    }
    return await follow(app, invocation, name)
  }),
}

export const backfillPause: Command = {
  name: 'backfill pause',
  summary: 'Stop taking in after the chunk in work',
  usage: `counterfoil backfill pause NAME ${actUsage}`,
  example: "counterfoil backfill pause march --operator olga --reason 'the month end goes first'",
  options: actOptions,
  run: acting(async (app, invocation) => {
    const name = oneName(invocation, 'a backfill')
    return answered(app, invocation.out, await pauseBackfill(app, name, actOf(app, invocation)))
  }),
}

export const backfillResume: Command = {
  name: 'backfill resume',
  summary: 'Let it go on where it was paused or halted; a server takes it in',
  usage: `counterfoil backfill resume NAME [--rate N/s] ${actUsage}`,
  example: "counterfoil backfill resume march --operator olga --reason 'the month end is over'",
  options: { ...actOptions, rate: { type: 'string' } },
  run: acting(async (app, invocation) => {
    const name = oneName(invocation, 'a backfill')
    const rate = rateOf(invocation)
    return answered(app, invocation.out, await resumeBackfill(app, name, rate, actOf(app, invocation)))
  }),
}

export const backfillList: Command = {
  name: 'backfill list',
  summary: 'Backfills and how far they are',
  usage: 'counterfoil backfill list',
  example: 'counterfoil backfill list --json',
  options: operatorOption,
  run: acting(async (app, invocation) => {
    const { out } = invocation
    const backfills = await listBackfills(app, viewerOf(app, invocation))
    const now = app.clock.now()
    out.json({ backfills: backfills.map((one) => ({ ...one, progress: progressOf(one, now) })) })
    const rows = backfills.map((one) => [
      one.name,
      one.state,
      one.plan.producer,
      time(one.plan.at),
      progressInWords(progressOf(one, now)),
    ])
    for (const line of table(['NAME STATE PRODUCER PLANNED PROGRESS'.split(' '), ...rows])) out.line(line)
    return exit.done
  }),
}

export const backfillShow: Command = {
  name: 'backfill show',
  summary: 'What was planned, who answers for it, and what became of it so far',
  usage: 'counterfoil backfill show NAME',
  example: 'counterfoil backfill show march',
  options: operatorOption,
  run: acting(async (app, invocation) => {
    const backfill = await showBackfill(app, viewerOf(app, invocation), oneName(invocation, 'a backfill'))
    return reported(app, invocation.out, backfill)
  }),
}

function requestOf(invocation: Invocation): PlanRequest {
  const { from, producer, sequence, within } = invocation.options
  return {
    name: oneName(invocation, 'a backfill'),
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof producer === 'string' ? { producer } : {}),
    ...(typeof sequence === 'string'
      ? { sequence: { pointer: sequence, ...(typeof within === 'string' ? { within } : {}) } }
      : {}),
  }
}

/** Takes it in here, or looks on while another process does. */
async function follow(app: Counterfoil, { out }: Invocation, name: string): Promise<number> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const show = ({ plan, run }: BackfillView) => out.progress(run.items, plan.items)
  const worker = newWorker(app)
  try {
    for (;;) {
      const taken = await takeIn(app, { name, worker, signal: stopping.signal, onProgress: show })
      const backfill = taken ?? (await app.store.showBackfill(name))
      if (backfill !== null) show(backfill)
      if (backfill === null || backfill.state !== 'running' || stopping.signal.aborted) {
        if (backfill === null) throw new CounterfoilError('not_found', `There is no backfill '${name}'.`)
        if (backfill.state === 'running')
          out.line('It goes on where a server runs; to stop it: backfill pause')
        return reported(app, out, backfill)
      }
      await new Promise<void>((resolve) => app.clock.after(500, resolve))
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

function answered(
  app: Counterfoil,
  out: Output,
  { backfill, repeated }: { readonly backfill: BackfillView; readonly repeated: boolean },
): number {
  out.json({ repeated, backfill: { ...backfill, progress: progressOf(backfill, app.clock.now()) } })
  out.line(`${backfill.name} is ${backfill.state}${repeated ? '; it was decided before' : ''}`)
  return exit.done
}

function reported(app: Counterfoil, out: Output, backfill: BackfillView): number {
  const progress = progressOf(backfill, app.clock.now())
  out.json({ backfill: { ...backfill, progress } })
  printBackfill(out, backfill)
  if (backfill.state === 'running') out.line(`  ${progressInWords(progress)}`)
  return backfill.state === 'halted' ? exit.problem : exit.done
}

/** @throws CounterfoilError `usage_invalid` */
function rateOf({ options }: Invocation): number | undefined {
  if (options.rate === undefined) return undefined
  const [, count] = /^(\d{1,7}(?:\.\d{1,3})?)(?:\/s)?$/.exec(String(options.rate)) ?? []
  if (count !== undefined) return Number(count)
  throw new CounterfoilError('usage_invalid', `--rate '${String(options.rate)}' is no number a second.`, {
    hint: 'Write it as 200/s.',
  })
}
