import { type BackfillCounts, backfillFigures } from '../domain/index.ts'
import type { BackfillProgress } from '../operate/index.ts'
import type { BackfillView, FirstOf } from '../store/index.ts'
import type { Output } from './command.ts'
import { table, time } from './print.ts'

const names = {
  new: 'new',
  duplicate: 'duplicate',
  conflicting: 'conflicting',
  unsupported: 'unsupported',
  schemaFailure: 'schema failure',
  notRepresentable: 'not representable',
  beyondRetention: 'beyond retention',
  refused: 'refused',
  malformed: 'malformed',
} as const

const vouched = {
  events: 'the operator who approves it answers for its events: nobody has signed them',
  requests: 'signatures are checked; their age is waived by the operator who approves it',
  listed: 'the operator who approves it answers for its events: nobody has signed them',
} as const

export function printBackfill(out: Output, { name, state, plan, run }: BackfillView): void {
  const { source, gaps, faults } = plan
  const where = source.kind === 'listed' ? `as listed until ${time(source.until)}` : source.path
  out.line(`${name}  ${state}`)
  out.line(`  ${plan.items} items of producer ${plan.producer}, ${where}`)
  out.line(`  ${vouched[source.kind]}`)
  out.line(`  planned ${time(plan.at)} by ${plan.by}, digest ${plan.digest}`)
  if (run.approval !== null) {
    out.line(`  approved ${time(run.approval.at)} by ${run.approval.by}: ${run.approval.reason}`)
  }
  if (run.halted !== null) out.line(`  HALTED ${run.halted}`)
  for (const line of table([['', 'PLANNED', 'TAKEN IN'], ...figures(plan.counts, run.counts)]))
    out.line(`  ${line}`)
  for (const { place, figure, why } of faults.first) out.line(`  ${figure.toUpperCase()} ${place}: ${why}`)
  more(out, faults)
  if (gaps.from !== null) out.line(`  from ${time(gaps.from)} to ${time(gaps.to)}`)
  ids(out, 'events of the source have no receipt', gaps.lacking)
  ids(out, 'receipts of that time are not in the source', gaps.unlisted)
  for (const { within, from, to } of gaps.holes?.first ?? []) {
    const of = within === '' ? '' : ` of ${within}`
    out.line(`  HOLE${of}: ${from === to ? from : `${from} to ${to}`}`)
  }
  if (gaps.holes !== null) more(out, gaps.holes)
}

function figures(planned: BackfillCounts, taken: BackfillCounts): string[][] {
  return backfillFigures
    .filter((figure) => planned[figure] > 0 || taken[figure] > 0)
    .map((figure) => [names[figure], String(planned[figure]), String(taken[figure])])
}

function ids(out: Output, what: string, { count, first }: FirstOf<string>): void {
  if (count === 0) return
  const shown = first.slice(0, 5).join(' ')
  out.line(`  ${count} ${what}: ${shown}${count > 5 ? ' …' : ''}`)
}

function more(out: Output, { count, first }: FirstOf<unknown>): void {
  if (count > first.length) out.line(`  and ${count - first.length} more`)
}

/** `4200 of 10000 (42 %), 198/s, 29 s left`. */
export function progressInWords({ items, of, share, perSecond, leftMs }: BackfillProgress): string {
  const pace = perSecond === null ? '' : `, ${Math.round(perSecond)}/s`
  const left = leftMs === null ? '' : `, ${lasting(leftMs)} left`
  return `${items} of ${of} (${Math.floor(share * 100)} %)${pace}${left}`
}

/** `29 s`, `12 min`, `3 h 20 min`: as exactly as an estimate deserves. */
function lasting(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
