import type { Output, Style } from './command.ts'

/** Text for people: no box drawing, nothing wider than its content. */

export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** A table with its head, each row in the style of what it says. */
export function printTable<Row extends readonly string[]>(
  out: Output,
  head: readonly string[],
  rows: readonly Row[],
  styleOf: (row: Row) => Style | undefined = () => undefined,
): void {
  const [first = '', ...lines] = table([head, ...rows])
  out.line(first, 'strong')
  for (const [index, line] of lines.entries()) out.line(line, styleOf(rows[index]!))
}

/** How a state looks: what is well is plain. */
export function stateStyle(state: string | undefined): Style | undefined {
  if (state === undefined) return undefined
  if (/disputed|unknown/.test(state)) return 'warning'
  if (/refused|problem|failing/.test(state)) return 'bad'
  return /dismissed|withdrawn|fenced/.test(state) ? 'quiet' : undefined
}

/** `2026-12-01 13:45:09.120Z`: sorts, and says its zone. */
export function time(at: number | null): string {
  return at === null ? '-' : new Date(at).toISOString().replace('T', ' ')
}

/** Instants as ISO 8601 text, so that the JSON reads without a table of fields. */
export function withTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTimes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'number' && /(^at|At)$/.test(name)
        ? new Date(member).toISOString()
        : withTimes(member),
    ]),
  )
}

/** Text that others wrote, for a terminal: control characters but line ends are shown, not obeyed. */
export function inSafeCharacters(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
