import { useLocation } from 'preact-iso'
import type { ReceiptView } from '../../../packages/counterfoil/src/store/index.ts'
import { useAsked } from '../api/use-asked.ts'
import { Filters } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Pager } from '../parts/pager.tsx'
import { ReceiptRows } from '../parts/receipt-rows.tsx'

const filters = [
  { name: 'state', label: 'State', choices: ['accepted', 'planned', 'quarantined'] },
  { name: 'producer', label: 'Producer' },
] as const

export function Receipts() {
  const { query } = useLocation()
  const asked = useAsked<{ receipts: ReceiptView[]; next: string | null }>(
    `/api/v1/receipts?${new URLSearchParams(query)}`,
  )
  return (
    <Page
      title="Receipts"
      about="What was accepted, verified and kept: one row for each event, newest first."
      asked={asked}
    >
      <Filters of={filters} given={query} />
      <ReceiptRows
        caption="Receipts"
        receipts={asked.value?.receipts ?? []}
        empty="No receipt is found by this filter."
      />
      <Pager next={asked.value?.next ?? null} />
    </Page>
  )
}
