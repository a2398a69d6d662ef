import { CounterfoilError } from './errors.ts'

/** A length of time as people write it: `500ms`, `30s`, `5m`, `24h`, `30d`; or a number of milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** @throws CounterfoilError `config_invalid` when the text is not a duration or is negative. */
export function milliseconds(duration: Duration): number {
  if (typeof duration === 'number' && Number.isFinite(duration) && duration >= 0) return duration
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration))
  if (match === null) {
    throw new CounterfoilError('config_invalid', `'${duration}' is not a duration.`, {
      hint: "Write a number of milliseconds or text such as '30s', '24h' or '30d'.",
    })
  }
  // 4.1 s are 4 100 ms; a double makes them 4 099.999… first.
  return Number((Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]).toFixed(3))
}

/** The shortest exact wording, for sentences: `24h`, `1.5s`, `250ms`. Never rounds but to whole milliseconds. */
export function inWords(ms: number): string {
  const whole = Math.round(ms)
  const units = ['d', 'h', 'm', 's'] as const
  const unit = units.find((u) => whole >= unitMs[u] && Number.isInteger((whole * 10) / unitMs[u]))
  return unit === undefined ? `${whole}ms` : `${whole / unitMs[unit]}${unit}`
}
