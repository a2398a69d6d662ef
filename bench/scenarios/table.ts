import { readFileSync, writeFileSync } from 'node:fs'
import type { Outcome } from './play.ts'

export interface Report {
  /** RFC 3339. */
  readonly at: string
  /** Versions, by system. */
  readonly about: Readonly<Record<string, string>>
  readonly outcomes: readonly Outcome[]
}

const page = new URL('../../docs/comparison.md', import.meta.url)
const [begin, end] = ['<!-- measured -->', '<!-- end of what is measured -->'] as const

/** A row a situation, a column a system; then what each did, in full. All in Markdown. */
export function table({ at, about, outcomes }: Report): string {
  const names = Object.keys(about)
  const versions = Object.values(about).map((text) => `- ${text}`)
  const run = `Run on ${at.slice(0, 10)}:`
  return [run, '', ...versions, '', ...summary(names, outcomes), ...details(outcomes)].join('\n').trimEnd()
}

/** Puts the tables in the place of those that docs/comparison.md has. */
export function intoPage(report: Report): void {
  const text = readFileSync(page, 'utf8')
  const [before, after] = [text.split(begin)[0], text.split(end)[1]]
  writeFileSync(page, `${before}${begin}\n\n${table(report)}\n\n${end}${after}`)
}

function summary(names: readonly string[], outcomes: readonly Outcome[]): string[] {
  const lines = [`| situation | ${names.join(' | ')} |`, `| --- |${' --- |'.repeat(names.length)}`]
  for (const [row, all] of Map.groupBy(outcomes, rowOf)) {
    const cells = names.map((name) => {
      const outcome = all.find(({ system }) => system === name)
      return outcome === undefined ? '–' : cellOf(outcome)
    })
    lines.push(`| ${row} | ${cells.join(' | ')} |`)
  }
  return lines
}

export function rowOf({ situation, variant }: Pick<Outcome, 'situation' | 'variant'>): string {
  return variant === '' ? situation : `${situation}: ${variant}`
}

/** Acts, with a cross where they are not as many as they should be, and whether someone can tell. */
export function cellOf({ acts, right, tells }: Outcome): string {
  const [first = '', second = ''] = tells.split(/: |, /)
  return `${acts}${right ? '' : ' ✗'}, ${second === 'unknown' ? second : first}`
}

function details(outcomes: readonly Outcome[]): string[] {
  const lines = ['', '## What each did', '', 'What was answered → what its records say at the end.']
  for (const [situation, all] of Map.groupBy(outcomes, ({ situation }) => situation)) {
    lines.push('', `### ${situation}`, '')
    for (const [variant, some] of Map.groupBy(all, ({ variant }) => variant)) {
      if (variant !== '') lines.push(`**${variant}**`, '')
      lines.push('| system | acts | can someone tell? | what it did |', '| --- | --- | --- | --- |')
      for (const { system, acts, right, tells, did } of some)
        lines.push(`| ${system} | ${acts}${right ? '' : ' ✗'} | ${tells} | ${inCell(did)} |`)
      lines.push('')
    }
  }
  return lines
}

function inCell(text: string): string {
  return text.replaceAll('|', '/').replaceAll(/\s+/g, ' ')
}
