interface Props {
  readonly title: string
  /** One value a step, oldest first; null where nobody counted. */
  readonly values: readonly (number | null)[]
  /** When each step began. */
  readonly times: readonly number[]
  /** `sum`: counts, which add up. `last`: levels, of which the newest matters. */
  readonly figure: 'sum' | 'last'
  readonly tone: 'good' | 'open' | 'doubt' | 'bad' | 'set'
}

const width = 300
const height = 56

/** A small bar plot of the last hour, with its figure in words. */
export function Bars({ title, values, times, figure, tone }: Props) {
  const known = values.filter((value) => value !== null)
  const most = Math.max(0, ...known)
  const told = figure === 'sum' ? known.reduce((sum, value) => sum + value, 0) : (known.at(-1) ?? 0)
  const y = (value: number) => (value / Math.max(1, most)) * (height - 2)
  const step = width / values.length
  return (
    <figure class={`plot is-${tone}`}>
      <figcaption>
        <span>{title}</span> <b>{told.toLocaleString('en')}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={inWords(title, known, most)}
      >
        {values.map((value, index) => {
          const at = new Date(times[index] ?? 0).toISOString().slice(11, 16)
          return value === null ? (
            <rect key={at} class="plot-gap" x={index * step} y={height - 1} width={step} height="1" />
          ) : (
            <rect
              key={at}
              class="plot-bar"
              x={index * step + 0.5}
              y={height - y(value)}
              width={step - 1}
              height={y(value)}
            >
              <title>
                {at} UTC: {value}
              </title>
            </rect>
          )
        })}
        <line class="plot-ground" x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
      </svg>
      <p class="plot-axis">
        <span>1 h ago</span> <span>most {most.toLocaleString('en')} a minute</span> <span>now</span>
      </p>
    </figure>
  )
}

function inWords(title: string, known: readonly number[], most: number): string {
  if (known.length === 0) return `${title}: nothing was counted in the last hour`
  return `${title} in the last hour: at most ${most} in a minute, ${known.at(-1)} in this one`
}
