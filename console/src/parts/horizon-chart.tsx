import { scaleLinear } from 'd3-scale'
import type { RetentionHorizons } from '../../../packages/counterfoil/src/operate/index.ts'
import { lengthOf } from './when.tsx'

const day = 86_400_000
const width = 640
const rowHeight = 42
const top = 26
/** Combinations that are drawn; the rest is shorter. */
const maxDrawn = 8

const parts = [
  ['producerMs', 'producer', 'open'],
  ['queueMs', 'queue', 'set'],
  ['recipientMs', 'recipient', 'doubt'],
  ['operatorMs', 'operator', 'good'],
] as const

/** The horizons of each way from a producer to a recipient, one after the other, against how long evidence is kept. */
export function HorizonChart({
  of: { combinations, periods, audit, needed },
}: {
  readonly of: RetentionHorizons
}) {
  const drawn = combinations.slice(0, maxDrawn)
  const most = Math.max(needed.ms, periods.evidenceMs, periods.payloadMs, periods.boundaryMs ?? 0)
  const x = scaleLinear([0, most / day], [0, width]).nice(5)
  const at = (ms: number) => x(ms / day)
  const rows = [
    ...drawn.map((one) => ({ name: `${one.producer} → ${one.recipient}`, one })),
    { name: 'audit', one: null },
  ]
  const height = top + rows.length * rowHeight
  const kept = [
    ['payloads', periods.payloadMs],
    ['evidence', periods.evidenceMs],
    ...(periods.boundaryMs === null ? [] : [['boundary', periods.boundaryMs] as const]),
  ] as const
  return (
    <figure class="horizons">
      <figcaption>
        {parts.map(([, name, tone]) => (
          <span key={name} class={`key is-${tone}`}>
            {name}
          </span>
        ))}
        <span class="key is-audit">audit</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Horizons in days; the longest is ${lengthOf(needed.ms)}, evidence is kept for ${lengthOf(periods.evidenceMs)}`}
      >
        {x.ticks(6).map((days) => (
          <g key={days} class="horizon-tick">
            <line x1={x(days)} x2={x(days)} y1={top - 4} y2={height} />
            <text
              x={Math.min(x(days), width - 2)}
              y="12"
              text-anchor={days === 0 ? 'start' : x(days) > width - 20 ? 'end' : 'middle'}
            >
              {days} d
            </text>
          </g>
        ))}
        {rows.map(({ name, one }, row) => {
          const y = top + row * rowHeight
          let begin = 0
          return (
            <g key={name}>
              <text class="horizon-name" x="2" y={y + 16}>
                {name}
              </text>
              {one === null ? (
                <rect class="is-audit" x="0" y={y + 22} width={at(audit.ms)} height="9" />
              ) : (
                parts.map(([part, what, tone]) => {
                  const from = begin
                  begin += one[part]
                  return (
                    <rect
                      key={part}
                      class={`is-${tone}`}
                      x={at(from)}
                      y={y + 22}
                      width={Math.max(1, at(one[part]))}
                      height="9"
                    >
                      <title>
                        {what}: {lengthOf(one[part])}
                      </title>
                    </rect>
                  )
                })
              )}
            </g>
          )
        })}
        {kept.map(([name, ms]) => (
          <line
            key={name}
            class={`horizon-kept is-${name}`}
            x1={at(ms)}
            x2={at(ms)}
            y1={top - 4}
            y2={height}
          />
        ))}
      </svg>
      <p class="horizon-words">
        {kept.map(([name, ms]) => (
          <span key={name} class={`kept is-${name}`}>
            {name} kept for <b>{lengthOf(ms)}</b>
          </span>
        ))}
      </p>
    </figure>
  )
}
