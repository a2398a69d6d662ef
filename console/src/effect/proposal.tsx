import { useState } from 'preact/hooks'
import type { Proposal, ShownEffect } from '../../../packages/counterfoil/src/operate/index.ts'
import { tell } from '../api/ask.ts'
import { Decide, type Words } from '../decide/decide.tsx'
import { When } from '../parts/when.tsx'
import { covers, useSession } from '../session.ts'

interface Props {
  readonly of: ShownEffect['effect']
  readonly proposal: Proposal
  readonly onDone: (told: string) => void
}

/** A decision that one person made and a second one has to agree to. */
export function ProposalPanel({ of: effect, proposal, onDone }: Props) {
  const { operator } = useSession()
  const [answer, setAnswer] = useState<'approve' | 'reject'>()
  const mayAnswer = covers(operator, 'approver') && operator.name !== proposal.by
  const decide = async ({ reason, decision }: Words) => {
    const body = { proposal: proposal.decision, reason, decision, expectedVersion: proposal.expectedVersion }
    await tell(`/api/v1/effects/${effect.id}/${answer}`, body)
    return answer === 'approve' ? 'Approved and carried out.' : 'The proposal was rejected.'
  }
  return (
    <section class="proposal" aria-label="Proposal">
      <p>
        <b>{proposal.by}</b> proposes to <b>{proposal.act}</b> it, <When at={proposal.at} />:{' '}
        <span class="said">{proposal.reason}</span>
      </p>
      {proposal.evidence !== null && <p>Evidence: {proposal.evidence.says}</p>}
      <div class="acts">
        <button
          type="button"
          class="button is-main"
          disabled={!mayAnswer}
          onClick={() => setAnswer('approve')}
        >
          Approve …
        </button>
        <button type="button" class="button" disabled={!mayAnswer} onClick={() => setAnswer('reject')}>
          Reject …
        </button>
        {!mayAnswer && <span class="faint">Another person, who is an approver, answers it.</span>}
      </div>
      {answer !== undefined && (
        <Decide
          title={answer === 'approve' ? 'Approve the proposal' : 'Reject the proposal'}
          act={answer === 'approve' ? 'Approve it' : 'Reject it'}
          isGrave={answer === 'approve'}
          says={
            answer === 'approve'
              ? 'It is carried out at once, and cannot be taken back.'
              : 'Nothing happens; the effect stays as it is.'
          }
          onDecide={decide}
          onDone={(told) => {
            setAnswer(undefined)
            onDone(told)
          }}
          onClose={() => setAnswer(undefined)}
        />
      )}
    </section>
  )
}
