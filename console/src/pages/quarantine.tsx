import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { QuarantineView } from '../../../packages/counterfoil/src/store/index.ts'
import { useAsked } from '../api/use-asked.ts'
import { DecideMany } from '../decide/many.tsx'
import { Filters } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Pager } from '../parts/pager.tsx'
import { RowLink, Rows } from '../parts/rows.tsx'
import { State } from '../parts/state.tsx'
import { When } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

const reasons = [
  'unsupported-type',
  'schema-failure',
  'not-representable',
  'identity-conflict',
  'effect-conflict',
  'plan-failed',
  'beyond-retention',
]

const filters = [
  { name: 'state', label: 'State', choices: ['waiting', 'released', 'dismissed'] },
  { name: 'reason', label: 'Reason', choices: reasons },
  { name: 'producer', label: 'Producer' },
  { name: 'type', label: 'Type' },
  { name: 'event', label: 'Event id holds' },
  { name: 'assignee', label: 'Assignee', hint: '- for nobody' },
] as const

export function Quarantine() {
  const { operator } = useSession()
  const { query } = useLocation()
  const [many, setMany] = useState(false)
  const [told, setTold] = useState('')
  const asked = useAsked<{ quarantine: QuarantineView[]; next: string | null }>(
    `/api/v1/quarantine?${new URLSearchParams({ state: 'waiting', ...query })}`,
  )
  const { state: _, before: __, after: ___, ...filter } = query
  const canDecide = (query.state ?? 'waiting') === 'waiting' && covers(operator, 'operator')
  return (
    <Page
      title="Quarantine"
      about="Authentic deliveries that cannot start work. Nothing is lost, and nothing acts, until somebody decides."
      asked={asked}
      actions={
        canDecide &&
        (asked.value?.quarantine.length ?? 0) > 0 && (
          <button type="button" class="button" onClick={() => setMany(true)}>
            Decide on all that match …
          </button>
        )
      }
    >
      <Filters of={filters} given={{ state: 'waiting', ...query }} />
      {told !== '' && (
        <p class="notice is-done" role="status">
          {told}
        </p>
      )}
      <Rows
        caption="Quarantine entries"
        rows={asked.value?.quarantine ?? []}
        idOf={({ id }) => id}
        columns={[
          {
            name: 'Event',
            isWide: true,
            cell: (entry) => (
              <RowLink href={`/console/quarantine/${entry.id}`}>
                <b>{entry.type}</b> <code>{entry.eventId}</code>
              </RowLink>
            ),
          },
          { name: 'Reason', cell: ({ reason }) => <span class="reason">{reason}</span> },
          { name: 'Producer', cell: ({ producer }) => producer },
          { name: 'Owner', cell: ({ owner }) => owner },
          { name: 'Assignee', cell: ({ assignee }) => assignee ?? <span class="faint">nobody</span> },
          { name: 'State', cell: ({ state }) => <State of={state} /> },
          { name: 'Came', cell: ({ at }) => <When at={at} /> },
        ]}
        empty="Nothing waits here by this filter."
      />
      <Pager next={asked.value?.next ?? null} />
      {many && (
        <DecideMany
          filter={filter}
          onClose={() => setMany(false)}
          onDone={(words) => {
            setMany(false)
            setTold(words)
            asked.again()
          }}
        />
      )}
    </Page>
  )
}
