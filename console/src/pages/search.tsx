import { useLocation } from 'preact-iso'
import type { Found } from '../../../packages/counterfoil/src/store/index.ts'
import { useAsked } from '../api/use-asked.ts'
import { EffectRows } from '../parts/effect-rows.tsx'
import { Page } from '../parts/page.tsx'
import { ReceiptRows } from '../parts/receipt-rows.tsx'
import { RowLink, Rows } from '../parts/rows.tsx'
import { State } from '../parts/state.tsx'
import { When } from '../parts/when.tsx'

export function Search() {
  const { query } = useLocation()
  const text = query.q ?? ''
  const asked = useAsked<Found>(text === '' ? null : `/api/v1/search?${new URLSearchParams({ q: text })}`, {
    everyMs: 10_000,
  })
  const { effects = [], receipts = [], quarantine = [] } = asked.value ?? {}
  const none = effects.length + receipts.length + quarantine.length === 0
  return (
    <Page title={`Search: ${text}`} asked={asked}>
      {none && (
        <p class="empty">
          Nothing has this name. Ids, event ids and effect keys are found by their beginnings too; an
          idempotency key or a recipient's id as a whole; a fingerprint by 8 digits or more.
        </p>
      )}
      {effects.length > 0 && (
        <section>
          <h2>Effects</h2>
          <EffectRows caption="Effects found" effects={effects} empty="" />
        </section>
      )}
      {receipts.length > 0 && (
        <section>
          <h2>Receipts</h2>
          <ReceiptRows caption="Receipts found" receipts={receipts} empty="" />
        </section>
      )}
      {quarantine.length > 0 && (
        <section>
          <h2>Quarantine</h2>
          <Rows
            caption="Quarantine entries found"
            rows={quarantine}
            idOf={({ id }) => id}
            columns={[
              {
                name: 'Event',
                isWide: true,
                cell: ({ id, type, eventId }) => (
                  <RowLink href={`/console/quarantine/${id}`}>
                    <b>{type}</b> <code>{eventId}</code>
                  </RowLink>
                ),
              },
              { name: 'Reason', cell: ({ reason }) => reason },
              { name: 'State', cell: ({ state }) => <State of={state} /> },
              { name: 'Came', cell: ({ at }) => <When at={at} /> },
            ]}
            empty=""
          />
        </section>
      )}
    </Page>
  )
}
