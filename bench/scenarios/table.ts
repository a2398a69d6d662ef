import type { Outcome } from './play.ts'

/** A table in Markdown, which is also easy to read as it is. */
export function table(about: Readonly<Record<string, string>>, outcomes: readonly Outcome[]): string {
  const lines = Object.values(about).map((text) => `- ${text}`)
  for (const [situation, all] of Map.groupBy(outcomes, ({ situation }) => situation)) {
    lines.push('', `## ${situation}`, '')
    for (const [variant, some] of Map.groupBy(all, ({ variant }) => variant)) {
      if (variant !== '') lines.push(`**${variant}**`, '')
      lines.push('| system | acts | can someone tell? | what it did |', '| --- | --- | --- | --- |')
      for (const { system, acts, right, tells, did } of some)
        lines.push(`| ${system} | ${acts}${right ? '' : ' ✗'} | ${tells} | ${did.replaceAll('|', '/')} |`)
      lines.push('')
    }
  }
  return lines.join('\n')
}
