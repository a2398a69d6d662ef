import { styleText } from 'node:util'
import { printable } from '../domain/index.ts'
import type { Output, Style } from './command.ts'
import { withTimes } from './print.ts'

/** Beyond ASCII, in texts that we print. */
export const ownCharacters = '→…“”█░'

/** A stream of the process, and whether a person looks at it. */
export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const formats = {
  strong: 'bold',
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  quiet: 'dim',
} as const satisfies Record<Style, string>

/**
 * What a command says: one JSON document, or lines for people. Colours and progress are for a terminal alone, and not
 * where `NO_COLOR` is set (no-color.org) or the terminal is dumb.
 */
export function outputTo(
  out: Screen,
  about: Screen,
  { json, env }: { readonly json: boolean; readonly env: Readonly<Record<string, string | undefined>> },
): Output {
  const plain = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  const paints = out.isTTY === true && !plain
  let bar = ''
  const clear = () => {
    if (bar !== '') about.write(`\r${' '.repeat(bar.length)}\r`)
    bar = ''
  }
  return {
    json(value) {
      clear()
      if (json) out.write(`${JSON.stringify(withTimes(value), null, 2)}\n`)
    },
    line(text = '', style) {
      clear()
      if (json) return
      // First the text is made safe: the only control characters on the line are ours.
      const safe = printable(text, ownCharacters)
      out.write(
        `${paints && style !== undefined ? styleText(formats[style], safe, { validateStream: false }) : safe}\n`,
      )
    },
    progress(done, of) {
      if (about.isTTY !== true) return
      clear()
      bar = barOf(done, of, about.columns ?? 80)
      about.write(bar)
    },
  }
}

const barWidth = 30

function barOf(done: number, of: number | null, columns: number): string {
  if (of === null || of === 0) return `${done.toLocaleString('en')} done`.slice(0, columns - 1)
  const share = Math.min(1, done / of)
  const full = Math.round(share * barWidth)
  const drawn = `${'█'.repeat(full)}${'░'.repeat(barWidth - full)}`
  const text = `${drawn} ${Math.floor(share * 100)} %  ${done.toLocaleString('en')} of ${of.toLocaleString('en')}`
  return text.slice(0, columns - 1)
}
