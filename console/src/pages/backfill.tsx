import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { tell } from '../api/ask.ts'
import { useAsked } from '../api/use-asked.ts'
import type { ShownBackfill } from '../backfill.ts'
import { Decide, Field, type Words } from '../decide/decide.tsx'
import { Facts } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { Page } from '../parts/page.tsx'
import { Progress } from '../parts/progress.tsx'
import { State } from '../parts/state.tsx'
import { Exact, instantInWords } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

type Act = 'approve' | 'run' | 'pause' | 'resume'

/** What each state lets somebody decide. */
const acts: Readonly<Record<ShownBackfill['state'], readonly Act[]>> = {
  planned: ['approve'],
  approved: ['run'],
  running: ['pause'],
  paused: ['resume'],
  halted: ['resume'],
  done: [],
}
const words: Readonly<Record<Act, { button: string; title: string; says: string; done: string }>> = {
  approve: {
    button: 'Approve',
    title: 'Approve this plan',
    says: 'You stand for this input, as it is now: its digest is bound to your name. Nothing is taken in yet.',
    done: 'You approved it.',
  },
  run: {
    button: 'Run',
    title: 'Run this backfill',
    says: 'The server takes it in chunk by chunk, behind live traffic. It can be paused at any time.',
    done: 'You let it run.',
  },
  pause: {
    button: 'Pause',
    title: 'Pause this backfill',
    says: 'The chunk in work is still taken in, and none after it.',
    done: 'You paused it.',
  },
  resume: {
    button: 'Resume',
    title: 'Go on with this backfill',
    says: 'It goes on where it stopped: what was taken in is not taken in again.',
    done: 'You let it go on.',
  },
}

const roleOf = (act: Act) => (act === 'approve' ? 'approver' : 'operator')

export function Backfill() {
  const { params } = useRoute()
  const { operator } = useSession()
  const [act, setAct] = useState<Act>()
  const [told, setTold] = useState('')
  const path = `/api/v1/backfills/${encodeURIComponent(params.name ?? '')}`
  const asked = useAsked<{ backfill: ShownBackfill }>(path, { everyMs: 1_000 })
  const backfill = asked.value?.backfill
  const lacking = acts[backfill?.state ?? 'done'].find((one) => !covers(operator, roleOf(one)))
  const decide = async ({ reason, decision, fields }: Words) => {
    const { rate, acceptMalformed } = fields
    const body = {
      ...(act === 'approve'
        ? { digest: backfill!.plan.digest, acceptMalformed: acceptMalformed === 'on' }
        : {}),
      ...(rate === undefined ? {} : { rate: rate === '' ? null : Number(rate) }),
    }
    await tell(`${path}/${act}`, { reason, decision, ...body })
    return words[act!].done
  }
  return (
    <Page title="Backfill" about={params.name} asked={asked}>
      {backfill !== undefined && (
        <>
          <TheAnswer of={backfill} />
          {told !== '' && (
            <p class="notice is-done" role="status">
              {told}
            </p>
          )}
          <div class="acts">
            {acts[backfill.state].map((one) => (
              <button
                key={one}
                type="button"
                class="button is-main"
                disabled={!covers(operator, roleOf(one))}
                onClick={() => setAct(one)}
              >
                {words[one].button} …
              </button>
            ))}
            {lacking !== undefined && (
              <span class="faint">
                Deciding needs the role {roleOf(lacking)}; yours is {operator.role}.
              </span>
            )}
          </div>
          <div class="columns">
            <section>
              <h2>What it finds, and what became of it</h2>
              <Figures of={backfill} />
            </section>
            <section>
              <h2>The plan</h2>
              <Plan of={backfill} />
            </section>
          </div>
          <Gaps of={backfill} />
          {act !== undefined && (
            <Decide
              title={words[act].title}
              act={words[act].button}
              says={words[act].says}
              onDecide={decide}
              onDone={(said) => {
                setAct(undefined)
                setTold(said)
                asked.again()
              }}
              onClose={() => setAct(undefined)}
            >
              {act === 'approve' && countOf(backfill.plan.counts, 'malformed') > 0 && (
                <label>
                  <input type="checkbox" name="acceptMalformed" required /> {backfill.plan.counts.malformed}{' '}
                  items cannot be read and are left out
                </label>
              )}
              {(act === 'run' || act === 'resume') && (
                <Field
                  name="rate"
                  label="Items a second, at most"
                  hint="Empty: as many as live traffic leaves room for."
                  value={backfill.run.rate === null ? '' : String(backfill.run.rate)}
                  optional
                />
              )}
            </Decide>
          )}
        </>
      )}
    </Page>
  )
}

function TheAnswer({ of }: { readonly of: ShownBackfill }) {
  const { state, plan, run } = of
  const tone = {
    planned: 'open',
    approved: 'open',
    running: 'open',
    paused: 'doubt',
    halted: 'bad',
    done: 'good',
  }[state]
  const answers = {
    planned: 'Planned: nothing is taken in until somebody approves it.',
    approved: `Approved by ${run.approval?.by}: it can be run.`,
    running: 'It is being taken in, behind live traffic.',
    paused: 'Paused: nothing more is taken in until somebody resumes it.',
    halted: `Halted: ${run.halted}`,
    done: `Done: all ${plan.items.toLocaleString('en')} items were taken in.`,
  }
  return (
    <section class={`verdict is-${tone}`} aria-label="Answer">
      <p class="verdict-line">{answers[state]}</p>
      <p>
        {run.items.toLocaleString('en')} of {plan.items.toLocaleString('en')} items <Progress of={of} />
      </p>
    </section>
  )
}

/** What the plan found beside what the run did; both in the same words. */
function Figures({ of: { plan, run } }: { readonly of: ShownBackfill }) {
  const names = Object.keys(plan.counts).filter(
    (name) => countOf(plan.counts, name) > 0 || countOf(run.counts, name) > 0,
  )
  return (
    <table class="counted">
      <thead>
        <tr>
          <th scope="col">figure</th>
          <th scope="col">planned</th>
          <th scope="col">taken in</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{countOf(plan.counts, name).toLocaleString('en')}</td>
            <td>{countOf(run.counts, name).toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Plan({ of: { state, plan, run } }: { readonly of: ShownBackfill }) {
  return (
    <Facts
      of={[
        ['state', <State key="state" of={state} />],
        ['producer', plan.producer],
        ['source', sourceInWords(plan.source)],
        ['planned', <Exact key="at" at={plan.at} />],
        ['by', plan.by],
        ['digest', <Id key="digest" of={plan.digest} label="digest" />],
        ['approved by', run.approval === null ? null : `${run.approval.by}: ${run.approval.reason}`],
        ['rate', run.rate === null ? null : `${run.rate} a second at most`],
        ['begun', run.begunAt === null ? null : <Exact key="begun" at={run.begunAt} />],
        ['ended', run.endedAt === null ? null : <Exact key="ended" at={run.endedAt} />],
      ]}
    />
  )
}

function Gaps({ of: { plan } }: { readonly of: ShownBackfill }) {
  const { lacking, unlisted, holes, from, to } = plan.gaps
  const span = from === null || to === null ? '' : ` from ${instantInWords(from)} to ${instantInWords(to)}`
  return (
    <section>
      <h2>Gaps</h2>
      <ul class="words">
        <Gap
          count={lacking.count}
          what={`events of the source have no receipt yet${span}`}
          first={lacking.first}
        />
        <Gap
          count={unlisted.count}
          what="receipts are of events that the source does not have"
          first={unlisted.first}
        />
        {holes !== null && (
          <Gap
            count={holes.count}
            what="holes in its sequence"
            first={holes.first.map(({ within, from, to }) => `${within} ${from}–${to}`.trim())}
          />
        )}
        <Gap
          count={plan.faults.count}
          what="items cannot be taken in"
          first={plan.faults.first.map(({ place, why }) => `${place}: ${why}`)}
        />
      </ul>
    </section>
  )
}

function Gap({ count, what, first }: { count: number; what: string; first: readonly string[] }) {
  return (
    <li>
      <b>{count.toLocaleString('en')}</b> {what}
      {first.length > 0 && (
        <span class="faint">
          : {first.slice(0, 5).join(', ')}
          {count > 5 && ' …'}
        </span>
      )}
    </li>
  )
}

function sourceInWords(source: ShownBackfill['plan']['source']): string {
  if (source.kind === 'listed') return `listed by the configuration, until ${instantInWords(source.until)}`
  return `${source.kind === 'events' ? 'events in' : 'stored requests in'} ${source.path}`
}

function countOf(counts: Readonly<Record<string, number>>, name: string): number {
  return counts[name] ?? 0
}
