import { useEffect, useState } from 'preact/hooks'
import type { DryRun, ManyRun } from '../../../packages/counterfoil/src/operate/index.ts'
import { Problem, tell } from '../api/ask.ts'
import { Counts } from '../parts/counts.tsx'
import { Decide, type Words } from './decide.tsx'

interface Props {
  readonly filter: Readonly<Record<string, string>>
  readonly onClose: () => void
  readonly onDone: (told: string) => void
}

/** Decides on all entries that a filter finds: first what it would find, then the run that is bound to that. */
export function DecideMany({ filter, onClose, onDone }: Props) {
  const [act, setAct] = useState<'reprocess' | 'dismiss'>('reprocess')
  const [found, setFound] = useState<DryRun>()
  const [problem, setProblem] = useState<Problem>()
  const [progress, setProgress] = useState('')
  useEffect(() => {
    let isCurrent = true
    setFound(undefined)
    setProblem(undefined)
    tell<DryRun>('/api/v1/quarantine/dry-run', { act, filter }).then(
      (dryRun) => isCurrent && setFound(dryRun),
      (error: Problem) => isCurrent && setProblem(error),
    )
    return () => {
      isCurrent = false
    }
  }, [act])
  const run = async ({ reason, decision }: Words): Promise<string> => {
    if (found === undefined)
      throw problem ?? new Problem(0, 'request_invalid', 'The dry run is not done yet.')
    for (;;) {
      const { digest } = found
      const { state, ...totals } = await tell<ManyRun>('/api/v1/quarantine/run', {
        act,
        filter,
        digest,
        reason,
        decision,
      })
      const words = `${totals.released} released, ${totals.kept} kept, ${totals.dismissed} dismissed, ${totals.stale} changed meanwhile`
      if (state === 'done') return `Done: ${words}.`
      setProgress(words)
    }
  }
  return (
    <Decide
      title="Decide on all that match"
      act={act === 'reprocess' ? 'Reprocess them' : 'Dismiss them'}
      isGrave={act === 'dismiss'}
      says={
        <>
          <fieldset class="choice">
            <legend>What to do</legend>
            {(['reprocess', 'dismiss'] as const).map((one) => (
              <label key={one}>
                <input
                  type="radio"
                  name="act"
                  value={one}
                  checked={act === one}
                  onChange={() => setAct(one)}
                />
                {one === 'reprocess'
                  ? 'Reprocess: start work by the code of now'
                  : 'Dismiss: they never start work'}
              </label>
            ))}
          </fieldset>
          {found === undefined && problem === undefined && <p class="faint">Dry run …</p>}
          {problem !== undefined && <p class="notice is-problem">{problem.message}</p>}
          {found !== undefined && (
            <section aria-label="Dry run" class="dry-run">
              <p>
                <b class="figure">{found.entries}</b> {found.entries === 1 ? 'entry' : 'entries'} would be
                decided on
                {found.never > 0 && <>; {found.never} of a reason that is never reprocessed are left alone</>}
                .
              </p>
              <Counts title="by reason" of={found.byReason} />
              <Counts title="by producer" of={found.byProducer} />
              <Counts title="by type" of={found.byType} />
            </section>
          )}
          {progress !== '' && <p role="status">{progress}</p>}
        </>
      }
      onDecide={run}
      onDone={onDone}
      onClose={onClose}
    />
  )
}
