import { median, spread } from '../figures.ts'
import { besideOld, type Case, type Group, groups } from './cases.ts'
import type { Figure } from './measure.ts'

export interface Measured {
  readonly group: Group
  readonly name: string
  readonly kind: Case['kind']
  readonly round: number
  readonly figure: Figure
}

/** A row of one group: a case with its rounds. */
export interface Row {
  readonly name: string
  readonly kind: Case['kind']
  readonly rounds: readonly Measured[]
}

export const titles: Readonly<Record<Group, string>> = {
  intake: 'Intake: callers at once, each waiting for the commit of one event of 1 kB',
  calls: 'Waiting effects, one HTTP call each, until recorded',
  'no-op': 'The same with an effect that does nothing',
  idle: 'One event on an idle system, from the call to the begin of its effect',
  history: 'Waiting effects that do nothing, beside old finished ones',
}

export function groupsOf(measured: readonly Measured[]): Group[] {
  return groups.filter((group) => measured.some((one) => one.group === group))
}

/** In the order of the cases, whatever the order of a round was. */
export function rowsOf(cases: readonly Case[], measured: readonly Measured[], group: Group): Row[] {
  return cases
    .filter((one) => one.group === group)
    .map(({ name, kind }) => ({
      name,
      kind,
      rounds: measured.filter((one) => one.group === group && one.name === name),
    }))
    .filter(({ rounds }) => rounds.length > 0)
}

/**
 * A row's rate as a share of another's in the same round: the machine drifts, so only figures of one round are
 * set against each other.
 */
export function ratios(
  row: Row,
  base: (round: number) => number | undefined,
  value: (figure: Figure) => number | undefined,
): number[] {
  return row.rounds.flatMap(({ round, figure }) => {
    const [own, other] = [value(figure), base(round)]
    return own === undefined || other === undefined ? [] : [own / other]
  })
}

/** The best of some rows in each round. */
export function best(
  rows: readonly Row[],
  value: (figure: Figure) => number | undefined,
  better: (...values: number[]) => number,
): (round: number) => number | undefined {
  return (round) => {
    const values = rows.flatMap((row) =>
      row.rounds.flatMap((one) => (one.round === round ? (value(one.figure) ?? []) : [])),
    )
    return values.length === 0 ? undefined : better(...values)
  }
}

const rate = (figure: Figure) => figure.rate
const p50 = (figure: Figure) => figure.p50

/** Markdown: a table a group, medians with the range of the rounds. */
export function report(
  machine: readonly string[],
  cases: readonly Case[],
  measured: readonly Measured[],
): string {
  const parts = groupsOf(measured).map((group) => {
    const rows = rowsOf(cases, measured, group)
    return `## ${titles[group]}\n\n${tables[group](rows)}`
  })
  return `${machine.map((line) => `- ${line}`).join('\n')}\n\n${parts.join('\n\n')}\n`
}

const tables: Readonly<Record<Group, (rows: readonly Row[]) => string>> = {
  intake: rateTable,
  calls: rateTable,
  'no-op': rateTable,
  idle: latencyTable,
  history: historyTable,
}

function rateTable(rows: readonly Row[]): string {
  const peer = best(
    rows.filter(({ kind }) => kind === 'peer'),
    rate,
    Math.max,
  )
  const floor = best(
    rows.filter(({ kind }) => kind === 'floor'),
    rate,
    Math.max,
  )
  return table(
    [
      'what',
      'a second',
      'x best peer',
      'x bare',
      'p50 ms',
      'p99 ms',
      'CPU µs',
      'PostgreSQL CPU µs',
      'WAL kB',
      'resident MB',
    ],
    rows.map((row) => [
      row.name,
      spreadOf(row, rate, 0),
      ratioText(ratios(row, peer, rate)),
      ratioText(ratios(row, floor, rate)),
      middle(row, p50, 1),
      middle(row, (figure) => figure.p99, 1),
      middle(row, (figure) => figure.cpuUs, 0),
      middle(row, (figure) => figure.serverUs, 0),
      middle(row, (figure) => figure.walKb, 2),
      middle(row, (figure) => figure.rssMb, 0),
    ]),
  )
}

function latencyTable(rows: readonly Row[]): string {
  const peer = best(
    rows.filter(({ kind }) => kind === 'peer'),
    p50,
    Math.min,
  )
  const floor = best(
    rows.filter(({ kind }) => kind === 'floor'),
    p50,
    Math.min,
  )
  return table(
    ['what', 'p50 ms', 'p99 ms', 'x two commits', 'x quickest peer'],
    rows.map((row) => [
      row.name,
      spreadOf(row, p50, 2),
      spreadOf(row, (figure) => figure.p99, 1),
      ratioText(ratios(row, floor, p50)),
      ratioText(ratios(row, peer, p50)),
    ]),
  )
}

function historyTable(rows: readonly Row[]): string {
  return table(
    ['what', 'a second', 'x without old ones', 'WAL kB'],
    rows.map((row) => {
      const empty = rows.filter(({ name }) => `${name}${besideOld}` === row.name)
      return [
        row.name,
        spreadOf(row, rate, 0),
        ratioText(ratios(row, best(empty, rate, Math.max), rate)),
        middle(row, (figure) => figure.walKb, 2),
      ]
    }),
  )
}

function valuesOf(row: Row, value: (figure: Figure) => number | undefined): number[] {
  return row.rounds.flatMap(({ figure }) => value(figure) ?? [])
}

function spreadOf(row: Row, value: (figure: Figure) => number | undefined, digits: number): string {
  const values = valuesOf(row, value)
  return values.length === 0 ? '' : spread(values, digits)
}

function middle(row: Row, value: (figure: Figure) => number | undefined, digits: number): string {
  const values = valuesOf(row, value)
  return values.length === 0 ? '' : median(values).toFixed(digits)
}

function ratioText(values: readonly number[]): string {
  return values.length === 0 ? '' : spread(values, 2)
}

/** Without empty columns. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = head.flatMap((_, column) => (rows.some((row) => row[column] !== '') ? [column] : []))
  const line = (cells: readonly string[]) => `| ${kept.map((column) => cells[column]).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
