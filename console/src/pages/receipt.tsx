import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import type { ShownReceipt } from '../../../packages/counterfoil/src/operate/index.ts'
import { tell } from '../api/ask.ts'
import { useAsked } from '../api/use-asked.ts'
import { Decide } from '../decide/decide.tsx'
import { Facts } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { Page } from '../parts/page.tsx'
import { Payload, type Read } from '../parts/payload.tsx'
import { RowLink, Rows } from '../parts/rows.tsx'
import { State } from '../parts/state.tsx'
import { Exact } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

export function Receipt() {
  const { params } = useRoute()
  const { operator } = useSession()
  const [asks, setAsks] = useState(false)
  const [read, setRead] = useState<Read>()
  const path = `/api/v1/receipts/${encodeURIComponent(params.id ?? '')}`
  const asked = useAsked<ShownReceipt>(path)
  const story = asked.value
  return (
    <Page title="Receipt" asked={asked}>
      {story !== undefined && (
        <>
          <Verdict of={story} />
          <div class="columns">
            <section>
              <h2>The delivery</h2>
              <Delivery of={story} />
            </section>
            <section>
              <h2>What happened to it</h2>
              <ol class="lines">
                {story.timeline.map(({ at, kind, text }) => (
                  <li key={kind}>
                    <Exact at={at} /> <span>{text}</span>
                  </li>
                ))}
              </ol>
              <h2>Payload</h2>
              <Payload read={read} mayRead={covers(operator, 'operator')} onAsk={() => setAsks(true)} />
            </section>
          </div>
          <section>
            <h2>What it caused</h2>
            <Caused of={story} />
          </section>
          {asks && (
            <Decide
              title="Read the payload"
              act="Read it"
              says="Payloads can hold what is none of our business. That you read this one, and why, goes into the audit log."
              onDecide={async ({ reason, decision }) => {
                setRead(await tell<Read>(`${path}/payload`, { reason, decision }))
                return ''
              }}
              onDone={() => setAsks(false)}
              onClose={() => setAsks(false)}
            />
          )}
        </>
      )}
    </Page>
  )
}

function Verdict({ of: { receipt, quarantine, effects } }: { readonly of: ShownReceipt }) {
  const copies =
    receipt.duplicates === 0
      ? ''
      : ` It came ${receipt.duplicates + 1} times; the copies were acknowledged and changed nothing.`
  const tone = { planned: 'good', accepted: 'open', quarantined: 'doubt' }[receipt.state]
  return (
    <section class={`verdict is-${tone}`} aria-label="Answer">
      <p class="verdict-line">
        {receipt.state === 'planned' &&
          `Accepted and planned: it caused ${effects.length === 1 ? 'one effect' : `${effects.length} effects`}.`}
        {receipt.state === 'accepted' && 'Accepted: it waits for its plan.'}
        {receipt.state === 'quarantined' && 'Accepted, and in quarantine: nothing was done for it.'}
      </p>
      <p>
        {vouched(receipt)}.{copies}
        {quarantine !== null && quarantine !== undefined && (
          <>
            {' '}
            <a href={`/console/quarantine/${quarantine.id}`}>See why it is in quarantine.</a>
          </>
        )}
      </p>
    </section>
  )
}

/** What stands for it. */
function vouched({ provenance, waived, origin }: ShownReceipt['receipt']): string {
  const approval = `the approval of ${origin} stands for it`
  if (waived === 'signature') return `Its signature was not checked: ${approval}`
  const covers =
    provenance === 'signed'
      ? 'Its signature was verified and covers id and type'
      : 'Its signature was verified; it does not cover id and type'
  return waived === 'freshness' ? `${covers}. How old it is was not checked: ${approval}` : covers
}

function Delivery({ of: { receipt } }: { readonly of: ShownReceipt }) {
  const receiptLink = (id: string | null) =>
    id === null ? null : <a href={`/console/receipts/${id}`}>{id}</a>
  return (
    <Facts
      of={[
        ['type', <b key="type">{receipt.type}</b>],
        ['event id', <Id key="event" of={receipt.eventId} label="event id" />],
        ['state', <State key="state" of={receipt.state} />],
        ['producer', receipt.producer],
        ['namespace', receipt.namespace],
        ['source', receipt.source],
        ['schema version', receipt.schemaVersion],
        ['origin', receipt.origin],
        ['content type', `${receipt.contentType}, ${receipt.bytes} bytes`],
        ['happened', receipt.eventAt === null ? null : <Exact key="eventAt" at={receipt.eventAt} />],
        ['came', <Exact key="receivedAt" at={receipt.receivedAt} />],
        ['conflicts with', receiptLink(receipt.conflictsWith)],
        ['same content as', receiptLink(receipt.sameContentAs)],
        ['fingerprint', <code key="fingerprint">{receipt.fingerprint}</code>],
        ['raw fingerprint', <code key="raw">{receipt.rawFingerprint}</code>],
        ['receipt', <Id key="id" of={receipt.id} />],
      ]}
    />
  )
}

function Caused({ of: { effects } }: { readonly of: ShownReceipt }) {
  return (
    <Rows
      caption="Effects of this receipt"
      rows={effects}
      idOf={({ id }) => id}
      columns={[
        {
          name: 'Effect',
          isWide: true,
          cell: ({ id, key }) => (
            <RowLink href={`/console/effects/${id}`}>
              <b>{key}</b>
            </RowLink>
          ),
        },
        { name: 'State', cell: ({ state }) => <State of={state} /> },
        { name: 'Recipient', cell: ({ recipient }) => recipient },
      ]}
      empty="It caused nothing."
    />
  )
}
