/** Longest text in a line, in characters; what is longer is cut and says so. */
export const maxLogText = 1_000
/** Longest line, in characters. */
export const maxLogLine = 8_000

/**
 * One structured line: JSON in plain ASCII, whatever it is about. What strangers chose is escaped like any
 * character beyond ASCII, so a line is one line, and look-alikes show.
 */
export function logLine(
  at: number,
  level: string,
  message: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  const line = write({ at: new Date(at).toISOString(), level, message, ...fields })
  if (line.length <= maxLogLine) return line
  return write({ at: new Date(at).toISOString(), level, message, leftOut: `${line.length} characters` })
}

function write(line: object): string {
  return JSON.stringify(line, bounded).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function bounded(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value.length > maxLogText ? `${value.slice(0, maxLogText)}…` : value
}
