const looks = {
  confirmed: 'good',
  refused: 'bad',
  fenced: 'set',
  notActed: 'open',
  unknown: 'doubt',
} as const
const names = {
  confirmed: 'confirmed',
  refused: 'refused',
  fenced: 'fenced',
  notActed: 'did not act',
  unknown: 'unknown',
} as const

/** How the newest attempts at a recipient ended, as one bar. */
export function Outcomes({ of }: { readonly of: Readonly<Record<keyof typeof looks, number>> }) {
  const outcomes = (Object.keys(looks) as (keyof typeof looks)[]).filter((name) => of[name] > 0)
  if (outcomes.length === 0) return <span class="faint">none</span>
  const all = outcomes.reduce((sum, name) => sum + of[name], 0)
  const words = outcomes.map((name) => `${of[name]} ${names[name]}`).join(', ')
  let x = 0
  return (
    <svg class="outcomes" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={words}>
      <title>{words}</title>
      {outcomes.map((name) => {
        const width = (of[name] / all) * 100
        x += width
        return <rect key={name} class={`is-${looks[name]}`} x={x - width} y="0" width={width} height="10" />
      })}
    </svg>
  )
}
