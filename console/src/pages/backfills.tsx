import { useState } from 'preact/hooks'
import { Problem, tell } from '../api/ask.ts'
import { useAsked } from '../api/use-asked.ts'
import type { ShownBackfill } from '../backfill.ts'
import { Page } from '../parts/page.tsx'
import { Progress } from '../parts/progress.tsx'
import { RowLink, Rows } from '../parts/rows.tsx'
import { State } from '../parts/state.tsx'
import { When } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

export function Backfills() {
  const { operator } = useSession()
  const [problem, setProblem] = useState('')
  const [planning, setPlanning] = useState('')
  const asked = useAsked<{ backfills: ShownBackfill[]; configured: string[] }>('/api/v1/backfills')
  const { backfills = [], configured = [] } = asked.value ?? {}
  const unplanned = configured.filter((name) => backfills.every((one) => one.name !== name))
  const plan = async (name: string) => {
    setPlanning(name)
    setProblem('')
    try {
      await tell(`/api/v1/backfills/${encodeURIComponent(name)}/plan`, {})
      asked.again()
    } catch (error) {
      setProblem(error instanceof Problem ? error.message : String(error))
    } finally {
      setPlanning('')
    }
  }
  return (
    <Page
      title="Backfills"
      about="Old deliveries through the same boundary: planned, approved, taken in behind live traffic."
      asked={asked}
    >
      {problem !== '' && (
        <p class="notice is-problem" role="alert">
          {problem}
        </p>
      )}
      {unplanned.length > 0 && (
        <ul class="offered">
          {unplanned.map((name) => (
            <li key={name}>
              <button
                type="button"
                class="button"
                disabled={planning !== '' || !covers(operator, 'operator')}
                onClick={() => plan(name)}
              >
                {planning === name ? 'Looking …' : 'Look through it'}
              </button>
              <span>
                <b>{name}</b> is configured and not planned yet. Looking through it takes nothing in.
              </span>
            </li>
          ))}
        </ul>
      )}
      <Rows
        caption="Backfills"
        rows={backfills}
        idOf={({ name }) => name}
        columns={[
          {
            name: 'Backfill',
            isWide: true,
            cell: ({ name }) => (
              <RowLink href={`/console/backfills/${encodeURIComponent(name)}`}>
                <b>{name}</b>
              </RowLink>
            ),
          },
          { name: 'State', cell: ({ state }) => <State of={state} /> },
          { name: 'Producer', cell: ({ plan }) => plan.producer },
          { name: 'Items', isNumber: true, cell: ({ plan }) => plan.items.toLocaleString('en') },
          { name: 'Taken in', cell: (one) => <Progress of={one} /> },
          { name: 'Planned', cell: ({ plan }) => <When at={plan.at} /> },
        ]}
        empty="No backfill was planned. At the command line: counterfoil backfill plan NAME --from FILE"
      />
    </Page>
  )
}
