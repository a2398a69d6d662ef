import type { Act, FarSidePorts } from './far-side.ts'
import type { Promises } from './history.ts'
import type { ScenarioPorts } from './scenario.ts'

/** What a far side needs of its schedule; its acts are written down. */
export function farSidePorts(
  recipient: string,
  { timeline, record }: Pick<ScenarioPorts, 'timeline' | 'record'>,
): FarSidePorts {
  return {
    now: () => timeline.now,
    after: (ms, run) => void timeline.after(ms, null, run),
    acted: (act: Act) => {
      const op = String(JSON.parse(act.body).op)
      record({ at: timeline.now, kind: 'acted', recipient, op, ...act })
    },
  }
}

/** What is under way for longer than the margin of its memory meets a recipient that has forgotten it. */
export function longestStallMs({ repeats, remembersMs }: Promises): number {
  const forgets = repeats !== null && Number.isFinite(remembersMs)
  return forgets ? Math.max(0, remembersMs * 0.1 - 5_000) : Number.POSITIVE_INFINITY
}
