/** Lines for a person: colours only on a terminal that wants them (no-color.org). */

const colours = process.stdout.isTTY && process.env.NO_COLOR === undefined

export const bold = (text: string) => (colours ? `\u001b[1m${text}\u001b[22m` : text)
export const faint = (text: string) => (colours ? `\u001b[2m${text}\u001b[22m` : text)

export function say(text = ''): void {
  process.stdout.write(`${text}\n`)
}

export function step(text: string): void {
  say()
  say(bold(text))
}
