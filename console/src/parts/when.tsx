import { useEffect, useState } from 'preact/hooks'

const second = 1_000
const steps = [
  [1, 'ms'],
  [second, 's'],
  [60 * second, 'min'],
  [3_600 * second, 'h'],
  [86_400 * second, 'd'],
] as const

/** A length of time in its largest fitting unit: `42 s`, `3 min`, `5 h`, `12 d`. */
export function lengthOf(ms: number): string {
  const [unit, name] = steps.findLast(([size]) => ms >= size) ?? steps[0]
  return `${Math.floor(Math.max(0, ms) / unit)} ${name}`
}

export function instantInWords(at: number): string {
  return new Date(at)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')
}

/** How long ago, or how far ahead; the exact time in UTC on hover and for readers. */
export function When({ at }: { readonly at: number | null | undefined }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  if (at == null) return <span class="faint">–</span>
  const exact = instantInWords(at)
  const text = at > now + second ? `in ${lengthOf(at - now)}` : `${lengthOf(now - at)} ago`
  return (
    <time class="when" dateTime={new Date(at).toISOString()} title={exact}>
      {text}
    </time>
  )
}

/** The exact time, to the millisecond where it matters what came first. */
export function Exact({ at }: { readonly at: number }) {
  const iso = new Date(at).toISOString()
  return (
    <time class="exact" dateTime={iso} title={iso}>
      {iso.slice(0, 10)} <b>{iso.slice(11, 19)}</b>
      <span class="faint">.{iso.slice(20, 23)}</span>
    </time>
  )
}
