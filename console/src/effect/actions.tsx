import { useState } from 'preact/hooks'
import type { EffectAct, EffectAnswer, ShownEffect } from '../../../packages/counterfoil/src/operate/index.ts'
import { tell } from '../api/ask.ts'
import { Decide, Field, type Words } from '../decide/decide.tsx'
import { covers, useSession } from '../session.ts'

const names: Readonly<Record<EffectAct, { button: string; title: string }>> = {
  ask: { button: 'Ask the recipient', title: 'Ask the recipient now' },
  repeat: { button: 'Repeat now', title: 'Repeat it now under the same key' },
  'place-tombstone': { button: 'Close the key', title: 'Close the key at the recipient for ever' },
  confirm: { button: 'It acted', title: 'Decide that the recipient acted' },
  refuse: { button: 'It refused', title: 'Decide that the recipient refused' },
  withdraw: { button: 'Withdraw', title: 'Withdraw it: it never acts' },
}
const grave: ReadonlySet<EffectAct> = new Set(['place-tombstone', 'confirm', 'refuse', 'withdraw'])

interface Props {
  readonly of: ShownEffect
  readonly onDone: (told: string) => void
}

/** What may safely be done about an effect, and why the rest is not offered. */
export function Actions({ of: shown, onDone }: Props) {
  const { operator } = useSession()
  const [act, setAct] = useState<EffectAct>()
  const { effect, actions } = shown
  const offered = actions.filter(({ offered }) => offered)
  const others = actions.filter(({ offered }) => !offered)
  const mayAct = covers(operator, 'operator')
  const chosen = actions.find((one) => one.act === act)
  const decide = async ({ reason, decision, fields }: Words) => {
    const { says, correlation } = fields
    const evidence = says === undefined ? {} : { evidence: { says, ...(correlation ? { correlation } : {}) } }
    const body = { reason, decision, expectedVersion: effect.version, ...evidence }
    const { outcome, effect: now } = await tell<EffectAnswer>(`/api/v1/effects/${effect.id}/${act}`, body)
    return outcomes[outcome](now.state)
  }
  return (
    <div class="actions">
      <ul class="offered">
        {offered.map((one) => (
          <li key={one.act}>
            <button
              type="button"
              class={grave.has(one.act) ? 'button' : 'button is-main'}
              disabled={!mayAct}
              onClick={() => setAct(one.act)}
            >
              {names[one.act].button} …
            </button>
            <span>{one.why}</span>
          </li>
        ))}
      </ul>
      {!mayAct && offered.length > 0 && (
        <p class="faint">Deciding needs the role operator; yours is {operator.role}.</p>
      )}
      {others.length > 0 && (
        <details class="not-offered" open={offered.length > 0}>
          <summary>
            {offered.length > 0 ? 'Why nothing else is offered' : 'Nothing: why nothing is offered'}
          </summary>
          <ul>
            {others.map(({ act, why }) => (
              <li key={act}>
                <b>{names[act].button}</b>: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
      {chosen !== undefined && (
        <Decide
          title={names[chosen.act].title}
          act={names[chosen.act].button}
          isGrave={grave.has(chosen.act)}
          says={
            <>
              <p>
                <code>{effect.key}</code> at <b>{effect.recipient}</b>
              </p>
              <p>{chosen.why}</p>
            </>
          }
          onDecide={decide}
          onDone={(told) => {
            setAct(undefined)
            onDone(told)
          }}
          onClose={() => setAct(undefined)}
        >
          {chosen.needsEvidence && (
            <>
              <Field
                name="says"
                label="Evidence"
                hint="What was seen and where, such as the operation in the recipient's own dashboard."
                maxLength={1_000}
              />
              <Field name="correlation" label="The recipient's id, if it has one" optional maxLength={200} />
            </>
          )}
        </Decide>
      )}
    </div>
  )
}

const outcomes: Readonly<Record<EffectAnswer['outcome'], (state: string) => string>> = {
  decided: (state) => `Decided: it is ${state} now.`,
  asked: (state) => `The recipient was asked: it is ${state} now. What it answered is in the story.`,
  hastened: () => 'The engine repeats it now.',
  proposed: () => 'Proposed: another person, who is an approver, has to agree.',
  rejected: () => 'The proposal was rejected.',
}
