import type { ShownEffect, StoryLine } from '../../../packages/counterfoil/src/operate/index.ts'
import { Exact, lengthOf } from '../parts/when.tsx'
import type { Tone } from './verdict.ts'

const lanes = ['receipt', 'plan', 'attempts', 'evidence'] as const
const laneOf: Readonly<Record<StoryLine['kind'], number>> = {
  receipt: 0,
  planned: 1,
  attempt: 2,
  answer: 2,
  lease: 3,
  acceptance: 3,
  lookup: 3,
  tombstone: 3,
  'late-answer': 3,
  escalation: 3,
  operator: 3,
}

/** Pixels: the middle of the first lane, from lane to lane, and of a line's dot from the top of its line. */
const first = 12
const between = 20
const dotAt = 15
const width = first + between * (lanes.length - 1) + 12

interface Line extends StoryLine {
  readonly lane: number
  readonly tone: Tone
  /** An attempt is in flight when this line begins, or after it. */
  readonly flightBefore: boolean
  readonly flightAfter: boolean
}

/** The story of an effect, drawn: what led to what, from its receipts to the evidence. */
export function Timeline({ of: shown }: { readonly of: ShownEffect }) {
  const lines = linesOf(shown)
  return (
    <div class="story">
      <p class="story-lanes" aria-hidden="true">
        {lanes.map((lane) => (
          <span key={lane} class={`lane is-${lane}`}>
            {lane}
          </span>
        ))}
      </p>
      <ol>
        {lines.map((line, index) => (
          <li key={`${index} ${line.at} ${line.kind}`} class={`is-${line.tone}`}>
            <Gutter line={line} from={lines[index - 1]?.lane} isLast={index === lines.length - 1} />
            <div class="story-line">
              <p class="story-when">
                <b class="story-kind">{line.kind.replace('-', ' ')}</b> <Exact at={line.at} />
                <span class="faint">{index === 0 ? '' : since(line.at - lines[index - 1]!.at)}</span>
              </p>
              <p class="story-text">{line.text}</p>
            </div>
          </li>
        ))}
      </ol>
    </div>
  )
}

function Gutter({ line, from, isLast }: { line: Line; from: number | undefined; isLast: boolean }) {
  const x = xOf(line.lane)
  const flight = xOf(2)
  return (
    <div class="story-lane">
      <svg class="story-gutter" width={width} aria-hidden="true">
        {line.flightBefore && (
          <line class="flight" x1={flight} x2={flight} y1="0" y2={line.flightAfter ? '100%' : dotAt} />
        )}
        {line.flightAfter && !line.flightBefore && (
          <line class="flight" x1={flight} x2={flight} y1={dotAt} y2="100%" />
        )}
        {from !== undefined && (
          <path class="thread" d={`M${xOf(from)} 0C${xOf(from)} ${dotAt} ${x} 0 ${x} ${dotAt}`} />
        )}
        {!isLast && <line class="thread" x1={x} x2={x} y1={dotAt} y2="100%" />}
        <circle class="dot" cx={x} cy={dotAt} r="5" />
      </svg>
    </div>
  )
}

function xOf(lane: number): number {
  return first + between * lane
}

function since(ms: number): string {
  return ms < 1_000 ? `+${ms} ms` : ms < 60_000 ? `+${(ms / 1_000).toFixed(2)} s` : `+${lengthOf(ms)}`
}

function linesOf({ timeline, effect }: ShownEffect): Line[] {
  let inFlight = 0
  return timeline.map((line) => {
    const flightBefore = inFlight > 0
    if (line.kind === 'attempt') inFlight++
    if (line.kind === 'answer') inFlight = Math.max(0, inFlight - 1)
    return {
      ...line,
      lane: laneOf[line.kind],
      tone: toneOf(line, effect),
      flightBefore,
      flightAfter: inFlight > 0,
    }
  })
}

const tones: Readonly<Record<string, Tone>> = {
  confirmed: 'good',
  refused: 'bad',
  unknown: 'doubt',
  fenced: 'set',
  withdrawn: 'set',
}

function toneOf({ kind, at }: StoryLine, { attempts, evidence }: ShownEffect['effect']): Tone {
  const outcome =
    kind === 'answer'
      ? attempts.find(({ endedAt }) => endedAt === at)?.outcome
      : evidence.find((entry) => entry.kind === kind && entry.at === at)?.to
  return tones[outcome ?? ''] ?? 'open'
}
