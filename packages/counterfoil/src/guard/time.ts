import type { Instant } from '../domain/index.ts'

/** RFC 3339 in UTC, as `Date.toISOString` writes it; a fraction of up to nine digits is read to milliseconds. */
const format = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/

/** @returns undefined when the text is not a time */
export function parseTime(text: string): Instant | undefined {
  if (!format.test(text)) return undefined
  const at = Date.parse(text)
  // Date.parse takes 30 February for 2 March.
  const sameDay = !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text.slice(0, 10)
  return sameDay ? at : undefined
}
