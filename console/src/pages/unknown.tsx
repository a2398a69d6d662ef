import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { ShownEffect } from '../../../packages/counterfoil/src/operate/index.ts'
import { useAsked } from '../api/use-asked.ts'
import { Actions } from '../effect/actions.tsx'
import { ProposalPanel } from '../effect/proposal.tsx'
import { Filters } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Pager } from '../parts/pager.tsx'
import { RowLink } from '../parts/rows.tsx'
import { When } from '../parts/when.tsx'

const filters = [{ name: 'recipient', label: 'Recipient' }] as const

export function Unknown() {
  const { query } = useLocation()
  const [told, setTold] = useState('')
  const asked = useAsked<{ unknown: ShownEffect[]; next: string | null }>(
    `/api/v1/unknown?${new URLSearchParams(query)}`,
  )
  const unknown = asked.value?.unknown ?? []
  const done = (words: string) => {
    setTold(words)
    asked.again()
  }
  return (
    <Page
      title="Unknown"
      about="Effects whose recipient may have acted. The engine asks and repeats by itself where the contract makes that safe; the rest needs evidence."
      asked={asked}
    >
      <Filters of={filters} given={query} />
      {told !== '' && (
        <p class="notice is-done" role="status">
          {told}
        </p>
      )}
      {unknown.length === 0 && <p class="empty">No outcome is unknown.</p>}
      <ol class="cards">
        {unknown.map((shown) => (
          <li key={shown.effect.id} class="card">
            <header>
              <RowLink href={`/console/effects/${shown.effect.id}`}>
                <b>{shown.effect.key}</b>
              </RowLink>
              <span class="faint">
                {shown.effect.name} at {shown.effect.recipient}, unknown since{' '}
                <When at={shown.effect.changedAt} />
              </span>
              {shown.effect.escalated && <span class="flag">for a person</span>}
            </header>
            <p>
              {whyOf(shown)} <span class="faint">Next: {shown.next.why}</span>
            </p>
            {shown.proposal !== null && (
              <ProposalPanel of={shown.effect} proposal={shown.proposal} onDone={done} />
            )}
            <Actions of={shown} onDone={done} />
          </li>
        ))}
      </ol>
      <Pager next={asked.value?.next ?? null} />
    </Page>
  )
}

function whyOf({ effect }: ShownEffect): string {
  const attempt = effect.attempts.findLast(({ outcome }) => outcome === 'unknown')
  return attempt === undefined
    ? ''
    : `Attempt ${attempt.number} got no answer that proves anything: ${attempt.why}.`
}
