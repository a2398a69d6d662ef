import type { Outcome } from './play.ts'

/** What docs/comparison.md shows: a row a situation, a column a system; then what each did, in full. All in Markdown. */
export function table(about: Readonly<Record<string, string>>, outcomes: readonly Outcome[]): string {
  const names = Object.keys(about)
  const versions = Object.values(about).map((text) => `- ${text}`)
  return [...versions, '', ...summary(names, outcomes), ...details(outcomes)].join('\n')
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
