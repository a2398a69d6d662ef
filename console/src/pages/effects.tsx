import { useLocation } from 'preact-iso'
import type { EffectView } from '../../../packages/counterfoil/src/store/index.ts'
import { useAsked } from '../api/use-asked.ts'
import { EffectRows } from '../parts/effect-rows.tsx'
import { Filters } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Pager } from '../parts/pager.tsx'

const states = ['planned', 'attempting', 'unknown', 'confirmed', 'refused', 'fenced', 'withdrawn']
const filters = [
  { name: 'state', label: 'State', choices: states },
  { name: 'recipient', label: 'Recipient' },
] as const

export function Effects() {
  const { query } = useLocation()
  const asked = useAsked<{ effects: EffectView[]; next: string | null }>(
    `/api/v1/effects?${new URLSearchParams(query)}`,
  )
  return (
    <Page
      title="Effects"
      about="What was caused outside: one row for each logical operation, newest first."
      asked={asked}
    >
      <Filters of={filters} given={query} />
      <EffectRows
        caption="Effects"
        effects={asked.value?.effects ?? []}
        empty="No effect is found by this filter."
      />
      <Pager next={asked.value?.next ?? null} />
    </Page>
  )
}
