import type { ComponentChildren } from 'preact'
import type { Overview as Seen } from '../../../packages/counterfoil/src/operate/index.ts'
import { useOverview } from '../overview.ts'
import { Bars } from '../parts/bars.tsx'
import { Outcomes } from '../parts/outcomes.tsx'
import { Page } from '../parts/page.tsx'
import { RowLink, Rows } from '../parts/rows.tsx'
import { When } from '../parts/when.tsx'

/** Is anything wrong, and where? */
export function Overview() {
  const asked = useOverview()
  const seen = asked.value
  return (
    <Page title="Overview" asked={asked}>
      {seen !== undefined && (
        <>
          <Answer of={seen} />
          <Figures of={seen} />
          <Rates of={seen} />
          <section>
            <h2>Recipients</h2>
            <Recipients of={seen} />
          </section>
        </>
      )}
    </Page>
  )
}

function Answer({ of: { status, recipients } }: { readonly of: Seen }) {
  const { unknown } = status.effects.byState
  const failing = recipients.filter(({ health }) => health === 'failing').map(({ recipient }) => recipient)
  const needs = [
    [status.effects.disputed, 'disputed effect', 'disputed effects'],
    [unknown, 'effect of unknown outcome', 'effects of unknown outcome'],
    [status.quarantine, 'delivery in quarantine', 'deliveries in quarantine'],
  ] as const
  const said = needs
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`)
  if (failing.length > 0) said.push(`no answer from ${failing.join(', ')}`)
  const tone = status.effects.disputed > 0 || failing.length > 0 ? 'bad' : said.length > 0 ? 'doubt' : 'good'
  return (
    <section class={`verdict is-${tone}`} aria-label="Answer">
      <p class="verdict-line">
        {said.length === 0
          ? 'All is settled: nothing is unknown, and nothing waits for a person.'
          : `To look at: ${said.join(', ')}.`}
      </p>
      {status.effects.escalated > 0 && (
        <p>
          {status.effects.escalated === 1 ? '1 effect waits' : `${status.effects.escalated} effects wait`} for
          a person: the engine has nothing more that a contract allows.
        </p>
      )}
    </section>
  )
}

function Figures({ of: { status, waitingSince } }: { readonly of: Seen }) {
  const { byState } = status.effects
  return (
    <ul class="figures">
      <Figure
        name="Unknown"
        href="/console/unknown"
        value={byState.unknown}
        since={waitingSince.unknown}
        tone="doubt"
      />
      <Figure
        name="Quarantine"
        href="/console/quarantine"
        value={status.quarantine}
        since={waitingSince.quarantine}
        tone="doubt"
      />
      <Figure
        name="Waiting for plans"
        href="/console/receipts?state=accepted"
        value={status.outbox.waiting}
        since={waitingSince.outbox}
        tone="open"
      />
      <Figure
        name="Planned"
        href="/console/effects?state=planned"
        value={byState.planned}
        since={waitingSince.planned}
        tone="open"
      />
      <Figure
        name="In flight"
        href="/console/effects?state=attempting"
        value={byState.attempting}
        since={waitingSince.attempting}
        tone="open"
      />
      <Figure
        name="Confirmed"
        href="/console/effects?state=confirmed"
        value={byState.confirmed}
        tone="good"
      />
      <Figure name="Refused" href="/console/effects?state=refused" value={byState.refused} tone="bad" />
      <Figure name="Receipts" href="/console/receipts" value={status.receipts.total} tone="set">
        {status.receipts.duplicates === 1
          ? '1 copy'
          : `${status.receipts.duplicates.toLocaleString('en')} copies`}
      </Figure>
    </ul>
  )
}

interface FigureProps {
  readonly name: string
  readonly href: string
  readonly value: number
  readonly since?: number | null
  readonly tone: string
  readonly children?: ComponentChildren
}

function Figure({ name, href, value, since, tone, children }: FigureProps) {
  return (
    <li class={value === 0 ? 'figure-card' : `figure-card is-${tone}`}>
      <a href={href}>
        <span class="figure-name">{name}</span>
        <b class="figure-value">{value.toLocaleString('en')}</b>
        <span class="faint">
          {children}
          {since != null && value > 0 && (
            <>
              oldest <When at={since} />
            </>
          )}
        </span>
      </a>
    </li>
  )
}

function Rates({ of: { rates } }: { readonly of: Seen }) {
  const times = rates.buckets.map(({ at }) => at)
  const plot = (name: 'receipts' | 'confirmed' | 'unknown' | 'quarantineWaiting') => ({
    times,
    values: rates.buckets.map((bucket) => bucket[name]),
  })
  return (
    <section class="plots" aria-label="The last hour">
      <Bars title="Receipts" figure="sum" tone="open" {...plot('receipts')} />
      <Bars title="Confirmed" figure="sum" tone="good" {...plot('confirmed')} />
      <Bars title="Unknown" figure="last" tone="doubt" {...plot('unknown')} />
      <Bars title="In quarantine" figure="last" tone="doubt" {...plot('quarantineWaiting')} />
    </section>
  )
}

function Recipients({ of: { recipients } }: { readonly of: Seen }) {
  return (
    <Rows
      caption="Recipients"
      rows={recipients}
      idOf={({ recipient }) => recipient}
      columns={[
        {
          name: 'Recipient',
          isWide: true,
          cell: ({ recipient }) => <RowLink href={`/console/recipients#${recipient}`}>{recipient}</RowLink>,
        },
        { name: 'Health', cell: ({ health }) => <Health of={health} /> },
        { name: 'Newest attempts', cell: ({ recent }) => <Outcomes of={recent} /> },
        { name: 'Planned', isNumber: true, cell: ({ open }) => open.planned.count },
        { name: 'In flight', isNumber: true, cell: ({ open }) => open.attempting.count },
        { name: 'Unknown', isNumber: true, cell: ({ open }) => open.unknown.count },
        { name: 'Last confirmed', cell: ({ lastConfirmedAt }) => <When at={lastConfirmedAt} /> },
      ]}
      empty="The configuration has no recipient."
    />
  )
}

const healths = {
  good: ['good', '✓'],
  unsteady: ['doubt', '~'],
  failing: ['bad', '!'],
  idle: ['set', '–'],
} as const

export function Health({ of }: { readonly of: keyof typeof healths }) {
  const [tone, sign] = healths[of]
  return (
    <span class={`state is-${tone}`}>
      <span class="state-sign" aria-hidden="true">
        {sign}
      </span>
      {of}
    </span>
  )
}
