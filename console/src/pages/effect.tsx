import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import type { ShownEffect } from '../../../packages/counterfoil/src/operate/index.ts'
import { tell } from '../api/ask.ts'
import { useAsked } from '../api/use-asked.ts'
import { Decide } from '../decide/decide.tsx'
import { Actions } from '../effect/actions.tsx'
import { ProposalPanel } from '../effect/proposal.tsx'
import { Timeline } from '../effect/timeline.tsx'
import { verdictOf } from '../effect/verdict.ts'
import { Facts } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { Page } from '../parts/page.tsx'
import { Payload, type Read } from '../parts/payload.tsx'
import { State } from '../parts/state.tsx'
import { Exact, When } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

/** Did it happen, how do we know, and what can I safely do? */
export function Effect() {
  const { params } = useRoute()
  const { operator } = useSession()
  const [told, setTold] = useState('')
  const [asks, setAsks] = useState(false)
  const [read, setRead] = useState<Read>()
  const path = `/api/v1/effects/${encodeURIComponent(params.id ?? '')}`
  const asked = useAsked<ShownEffect>(path)
  const shown = asked.value
  const done = (words: string) => {
    setTold(words)
    asked.again()
  }
  return (
    <Page
      title="Effect"
      about={shown === undefined ? undefined : <code>{shown.effect.key}</code>}
      asked={asked}
    >
      {shown !== undefined && (
        <>
          <TheVerdict of={shown} />
          {told !== '' && (
            <p class="notice is-done" role="status">
              {told}
            </p>
          )}
          {shown.proposal !== null && (
            <ProposalPanel of={shown.effect} proposal={shown.proposal} onDone={done} />
          )}
          <section>
            <h2>What you can safely do</h2>
            <Actions of={shown} onDone={done} />
          </section>
          <div class="columns is-story">
            <section>
              <h2>The story</h2>
              <Timeline of={shown} />
            </section>
            <section>
              <h2>The effect</h2>
              <About of={shown} />
              <h2>Request</h2>
              <Payload
                read={read}
                mayRead={covers(operator, 'operator')}
                onAsk={() => setAsks(true)}
                name="request"
              />
            </section>
          </div>
          {asks && (
            <Decide
              title="Read the request"
              act="Read it"
              says="The bytes that every attempt sends. That you read them, and why, goes into the audit log."
              onDecide={async ({ reason, decision }) => {
                const { base64 } = await tell<{ base64: string | null }>(`${path}/request`, {
                  reason,
                  decision,
                })
                setRead({ contentType: null, base64 })
                return ''
              }}
              onDone={(words) => {
                setAsks(false)
                setTold(words)
              }}
              onClose={() => setAsks(false)}
            />
          )}
        </>
      )}
    </Page>
  )
}

function TheVerdict({ of: shown }: { readonly of: ShownEffect }) {
  const { tone, answer, because } = verdictOf(shown)
  return (
    <section class={`verdict is-${tone}`} aria-label="Answer">
      <p class="verdict-line">{answer}</p>
      {because.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </section>
  )
}

function About({ of: { effect, causes, next } }: { readonly of: ShownEffect }) {
  const correlation = effect.attempts.findLast((attempt) => attempt.correlation !== null)?.correlation ?? null
  return (
    <Facts
      of={[
        ['state', <State key="state" of={effect.disputed ? 'disputed' : effect.state} />],
        ['key', <Id key="key" of={effect.key} label="effect key" />],
        ['what', effect.name],
        [
          'recipient',
          <a key="recipient" href={`/console/recipients#${effect.recipient}`}>
            {effect.recipient}
          </a>,
        ],
        [
          'caused by',
          causes.map(({ receipt, type, trigger }) => (
            <p key={receipt}>
              <a href={`/console/receipts/${receipt}`}>{type}</a> <span class="faint">by “{trigger}”</span>
            </p>
          )),
        ],
        ['idempotency key', <Id key="idempotency" of={effect.idempotencyKey} label="idempotency key" />],
        [
          "recipient's id",
          correlation === null ? null : <Id key="correlation" of={correlation} label="correlation" />,
        ],
        ['order', effect.order === null ? null : `${effect.order.domain}, version ${effect.order.version}`],
        ['planned', <Exact key="planned" at={effect.plannedAt} />],
        ['changed', <Exact key="changed" at={effect.changedAt} />],
        ['looked at again', next.at === null ? null : <When key="next" at={next.at} />],
        ['attempts', effect.attempts.length],
        [
          'for a person',
          effect.escalated ? 'yes: the engine has nothing more that the contract allows' : null,
        ],
        ['fingerprint', <code key="fingerprint">{effect.fingerprint}</code>],
        ['version', effect.version],
        ['id', <Id key="id" of={effect.id} />],
      ]}
    />
  )
}
