import { CounterfoilError } from '../domain/index.ts'
import {
  answerProposal,
  decideOnEffect,
  type EffectAct,
  type EffectAnswer,
  type Evidence,
} from '../operate/index.ts'
import { acting, actOptions, actUsage, decisionOf } from './acting.ts'
import { type Command, exit, type Invocation, type Output } from './command.ts'
import { printEffect } from './effects.ts'
import { oneName } from './reading.ts'

const options = { ...actOptions, version: { type: 'string' } } as const
const evidenceOptions = { ...options, evidence: { type: 'string' }, correlation: { type: 'string' } } as const

const summaries: Readonly<Record<EffectAct, string>> = {
  ask: 'Ask the recipient now what became of an effect',
  repeat: 'Let the engine repeat an unknown effect now, where its contract makes that safe',
  'place-tombstone': 'Ask the recipient to close the key of an unknown effect for ever',
  confirm: 'Decide, with evidence, that the recipient acted',
  refuse: 'Decide, with evidence, that the recipient refused it and did not act',
  withdraw: 'Decide that an effect never acts',
}

/** One command for each act on an effect. */
export const effectDecisions: readonly Command[] = Object.entries(summaries).map(([name, summary]) => {
  const act = name as EffectAct
  const takes = act === 'confirm' || act === 'refuse' || act === 'withdraw'
  const evidence = takes ? ' --evidence TEXT [--correlation ID]' : ''
  return {
    name: `effects ${act}`,
    summary,
    usage: `counterfoil effects ${act} EFFECT-ID --version N${evidence} ${actUsage}`,
    example: `counterfoil effects ${act} eff_01KBDZ3V6Q0000000000000000 --version 3${takes ? " --evidence 'seen as ch_1 in their console'" : ''} --operator dana --reason 'case 12'`,
    options: takes ? evidenceOptions : options,
    run: acting(async (app, invocation) => {
      const id = oneName(invocation, 'an effect by its id')
      const decision = { ...decisionOf(app, invocation, 'effects show EFFECT'), ...evidenceOf(invocation) }
      return answered(invocation.out, await decideOnEffect(app, id, act, decision))
    }),
  }
})

/** The second person's commands. */
export const proposalAnswers: readonly Command[] = (['approve', 'reject'] as const).map((answer) => ({
  name: `effects ${answer}`,
  summary:
    answer === 'approve'
      ? 'Confirm a decision that another person proposed'
      : 'Reject a decision that was proposed',
  usage: `counterfoil effects ${answer} EFFECT-ID --proposal DECISION --version N ${actUsage}`,
  example: `counterfoil effects ${answer} eff_01KBDZ3V6Q0000000000000000 --proposal d-1 --version 3 --operator ada --reason 'looked too'`,
  options: { ...options, proposal: { type: 'string' } },
  run: acting(async (app, invocation) => {
    const id = oneName(invocation, 'an effect by its id')
    const { proposal } = invocation.options
    if (typeof proposal !== 'string') {
      throw new CounterfoilError('usage_invalid', 'Name the proposal: --proposal DECISION.', {
        hint: 'It is shown by: counterfoil effects show EFFECT',
      })
    }
    const decision = decisionOf(app, invocation, 'effects show EFFECT')
    return answered(invocation.out, await answerProposal(app, id, answer, proposal, decision))
  }),
}))

function evidenceOf({ options }: Invocation): { evidence?: Evidence } {
  const { evidence, correlation } = options
  if (typeof evidence !== 'string') return {}
  return { evidence: { says: evidence, ...(typeof correlation === 'string' ? { correlation } : {}) } }
}

function answered(out: Output, answer: EffectAnswer): number {
  out.json(answer)
  const { outcome, repeated } = answer
  out.line(`${outcome}${repeated ? ' before, by this decision' : ''}`, 'strong')
  if (outcome === 'proposed') out.line('Another person, who is an approver, has to confirm it.', 'warning')
  printEffect(answer, out)
  return exit.done
}
