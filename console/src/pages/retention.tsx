import { useState } from 'preact/hooks'
import type { RetentionHorizons, RetentionPlan } from '../../../packages/counterfoil/src/operate/index.ts'
import { tell } from '../api/ask.ts'
import { useAsked } from '../api/use-asked.ts'
import { Decide, type Words } from '../decide/decide.tsx'
import { HorizonChart } from '../parts/horizon-chart.tsx'
import { Page } from '../parts/page.tsx'
import { Rows } from '../parts/rows.tsx'
import { instantInWords, lengthOf } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

/** Both null where the configuration says nothing of retention. */
type Answer = { readonly horizons: RetentionHorizons | null; readonly plan: RetentionPlan | null }

export function Retention() {
  const { operator } = useSession()
  const [applies, setApplies] = useState(false)
  const [told, setTold] = useState('')
  const asked = useAsked<Answer>('/api/v1/retention', { everyMs: 30_000 })
  const { horizons = null, plan = null } = asked.value ?? {}
  const isMissing = asked.value?.horizons === null
  const apply = async ({ reason, decision }: Words) => {
    for (;;) {
      const { state, steps } = await tell<RetentionPlan>('/api/v1/retention/apply', { reason, decision })
      if (state === 'done') return `Done: ${steps.map(({ step, count }) => `${count} ${step}`).join(', ')}.`
    }
  }
  return (
    <Page
      title="Retention"
      about="How late something may still come, and how long what is known of it is kept."
      asked={asked}
      actions={
        plan !== null && (
          <button
            type="button"
            class="button"
            disabled={!covers(operator, 'approver')}
            onClick={() => setApplies(true)}
          >
            Apply …
          </button>
        )
      }
    >
      {isMissing && (
        <p class="empty">Nothing is ever removed: the configuration says nothing of retention.</p>
      )}
      {told !== '' && (
        <p class="notice is-done" role="status">
          {told}
        </p>
      )}
      {horizons !== null && (
        <>
          <section class="verdict is-open" aria-label="Answer">
            <p class="verdict-line">
              Evidence is kept for {lengthOf(horizons.periods.evidenceMs)}; at least{' '}
              {lengthOf(horizons.needed.ms)} are needed.
            </p>
            <p>The longest is {horizons.needed.why}.</p>
            <p>
              {plan?.boundary == null
                ? 'No time is closed to replay.'
                : `The time before ${instantInWords(plan.boundary)} is closed to replay.`}
            </p>
          </section>
          <HorizonChart of={horizons} />
        </>
      )}
      {plan !== null && (
        <section>
          <h2>What applying it now would take</h2>
          <Rows
            caption="Steps of retention"
            rows={plan.steps}
            idOf={({ step }) => step}
            columns={[
              { name: 'Step', isWide: true, cell: ({ step }) => step },
              {
                name: 'Rows',
                isNumber: true,
                cell: ({ count, whole }) => `${whole ? '' : 'at least '}${count.toLocaleString('en')}`,
              },
              { name: 'Bytes', isNumber: true, cell: ({ bytes }) => bytes.toLocaleString('en') },
            ]}
            empty="Nothing."
          />
        </section>
      )}
      {applies && (
        <Decide
          title="Apply retention now"
          act="Apply it"
          isGrave
          says="What is done with for long enough goes, in small batches behind live work. It cannot be taken back."
          onDecide={apply}
          onDone={(words) => {
            setApplies(false)
            setTold(words)
            asked.again()
          }}
          onClose={() => setApplies(false)}
        />
      )}
    </Page>
  )
}
