import { styleText } from 'node:util'

/** Lines for a person. Colours only on a terminal, and none with NO_COLOR. */

const out = process.stdout

export const bold = (text: string): string => styleText('bold', text, { stream: out })
export const faint = (text: string): string => styleText('dim', text, { stream: out })
export const good = (text: string): string => styleText('green', text, { stream: out })
export const bad = (text: string): string => styleText('red', text, { stream: out })
export const open = (text: string): string => styleText('yellow', text, { stream: out })

export function say(text = ''): void {
  out.write(`${text}\n`)
}

export function chapter(title: string): void {
  say()
  say(bold(title))
}

/** `12 accepted, 3 duplicate`, without what did not happen. */
export function counted(counts: Iterable<readonly [string, number]>): string {
  const told = [...counts].filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`)
  return told.length === 0 ? 'none' : told.join(', ')
}

/** `1 effect`, `2 effects`. */
export function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

const width = 24

/** A bar that fills in place on a terminal; elsewhere nothing until it is full, for logs keep every line. */
export function progress(done: number, total: number): void {
  if (!out.isTTY) return
  const filled = Math.round((width * done) / Math.max(1, total))
  out.write(`\r  ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done} of ${total} `)
  // The line that follows takes its place.
  if (done === total) out.write('\r\u001b[K')
}
