import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import type { QuarantineNote, QuarantineView } from '../../../packages/counterfoil/src/store/index.ts'
import { tell } from '../api/ask.ts'
import { useAsked } from '../api/use-asked.ts'
import { Decide, Field, type Words } from '../decide/decide.tsx'
import { Facts, Json } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { Page } from '../parts/page.tsx'
import { Payload, type Read } from '../parts/payload.tsx'
import { State } from '../parts/state.tsx'
import { Exact, When } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

type Story = { readonly quarantine: QuarantineView; readonly notes: readonly QuarantineNote[] }
type Act = 'payload' | 'assign' | 'reprocess' | 'dismiss'

/** What a reason means, and what may follow (docs/quarantine.md). */
const meanings: Readonly<Record<string, string>> = {
  'unsupported-type': 'No trigger takes this type or version. Deploy one and reprocess, or dismiss it.',
  'schema-failure':
    'The payload does not fit the schema of its trigger. Mend the schema and reprocess, or dismiss it.',
  'not-representable':
    'JSON cannot carry this payload faithfully. Declare lossless numbers and reprocess, or dismiss it.',
  'plan-failed': 'The trigger failed each time it planned this. Mend it and reprocess, or dismiss it.',
  'effect-conflict':
    'The plan names an effect key that has another payload. Give the key a new revision and reprocess, or dismiss it.',
  'identity-conflict':
    'The same event id came with other content. It is never processed: it could act twice.',
  'beyond-retention':
    'It is older than what duplicates are remembered for. It is never processed: it could act twice.',
}
const never = new Set(['identity-conflict', 'beyond-retention'])

export function QuarantineEntry() {
  const { params } = useRoute()
  const { operator } = useSession()
  const [act, setAct] = useState<Act>()
  const [told, setTold] = useState('')
  const [read, setRead] = useState<Read>()
  const path = `/api/v1/quarantine/${encodeURIComponent(params.id ?? '')}`
  const asked = useAsked<Story>(path)
  const entry = asked.value?.quarantine
  const decide = async (name: Act, { reason, decision, fields }: Words) => {
    const body = { reason, decision, expectedVersion: entry!.version, ...fields }
    const { outcome } = await tell<{ outcome: string }>(`${path}/${name}`, body)
    return outcome === 'kept'
      ? 'It still cannot start work; the note below says why.'
      : `Done: the entry is ${outcome}.`
  }
  const dialog = {
    onClose: () => setAct(undefined),
    onDone: (words: string) => {
      setAct(undefined)
      setTold(words)
      asked.again()
    },
  }
  const mayAct = covers(operator, 'operator')
  return (
    <Page title="Quarantine entry" asked={asked}>
      {entry !== undefined && (
        <>
          <section class={`verdict is-${entry.state === 'waiting' ? 'doubt' : 'set'}`}>
            <p class="verdict-line">
              {entry.state === 'waiting' && <>This delivery waits: nothing was done for it. </>}
              {entry.state === 'released' && (
                <>This delivery was released: its receipt is planned as any other. </>
              )}
              {entry.state === 'dismissed' && <>This delivery was dismissed: it never starts work. </>}
            </p>
            <p>
              <b>{entry.reason}</b>: {meanings[entry.reason] ?? ''}
            </p>
          </section>
          {told !== '' && (
            <p class="notice is-done" role="status">
              {told}
            </p>
          )}
          {entry.state === 'waiting' && (
            <div class="acts">
              <button
                type="button"
                class="button is-main"
                disabled={!mayAct || never.has(entry.reason)}
                onClick={() => setAct('reprocess')}
              >
                Reprocess …
              </button>
              <button type="button" class="button" disabled={!mayAct} onClick={() => setAct('assign')}>
                Assign …
              </button>
              <button type="button" class="button" disabled={!mayAct} onClick={() => setAct('dismiss')}>
                Dismiss …
              </button>
              {never.has(entry.reason) && (
                <span class="faint">Reprocess is not offered: {meanings[entry.reason]}</span>
              )}
              {!mayAct && (
                <span class="faint">Deciding needs the role operator; yours is {operator.role}.</span>
              )}
            </div>
          )}
          <div class="columns">
            <section>
              <h2>The delivery</h2>
              <Facts
                of={[
                  ['type', <b>{entry.type}</b>],
                  ['event id', <Id of={entry.eventId} label="event id" />],
                  ['producer', entry.producer],
                  ['receipt', <a href={`/console/receipts/${entry.receipt}`}>{entry.receipt}</a>],
                  ['state', <State of={entry.state} />],
                  ['owner', entry.owner],
                  ['assignee', entry.assignee ?? <span class="faint">nobody</span>],
                  ['came', <Exact at={entry.at} />],
                  ['attended to', <When at={entry.attendedAt} />],
                  ['version', entry.version],
                  ['entry', <Id of={entry.id} />],
                ]}
              />
            </section>
            <section>
              <h2>Why it is here</h2>
              <Json of={entry.detail} />
              <h2>Payload</h2>
              <Payload read={read} mayRead={mayAct} onAsk={() => setAct('payload')} />
            </section>
          </div>
          <section>
            <h2>Since then</h2>
            {asked.value!.notes.length === 0 && <p class="empty">Nothing more was learned.</p>}
            <ol class="notes">
              {asked.value!.notes.map((note) => (
                <li key={`${note.at} ${note.by}`}>
                  <Exact at={note.at} /> <b>{note.reason}</b> <span class="faint">found by {note.by}</span>
                  <Json of={note.detail} />
                </li>
              ))}
            </ol>
          </section>
          {act === 'reprocess' && (
            <Decide
              title="Reprocess this entry"
              act="Reprocess it"
              says="It starts work by the schemas and triggers that are deployed now. An effect that another event caused already is shared, not repeated. What still does not fit stays here, with the new fault as a note."
              onDecide={(words) => decide('reprocess', words)}
              {...dialog}
            />
          )}
          {act === 'dismiss' && (
            <Decide
              title="Dismiss this entry"
              act="Dismiss it"
              isGrave
              says="It never starts work, also when it is sent again."
              onDecide={(words) => decide('dismiss', words)}
              {...dialog}
            />
          )}
          {act === 'assign' && (
            <Decide
              title="Assign this entry"
              act="Assign it"
              says="Whoever is named looks after it; alerts about it stop."
              onDecide={(words) => decide('assign', words)}
              {...dialog}
            >
              <Field
                name="assignee"
                label="Assignee"
                value={entry.assignee ?? operator.name}
                maxLength={100}
              />
            </Decide>
          )}
          {act === 'payload' && (
            <Decide
              title="Read the payload"
              act="Read it"
              says="Payloads can hold what is none of our business. That you read this one, and why, goes into the audit log."
              onDecide={async ({ reason, decision }) => {
                setRead(await tell<Read>(`${path}/payload`, { reason, decision }))
                return ''
              }}
              {...dialog}
            />
          )}
        </>
      )}
    </Page>
  )
}
