import { randomUUID } from 'node:crypto'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import { type Act, type Decision, type Operator, operatorNamed } from '../operate/index.ts'
import type { Command, Invocation } from './command.ts'
import { reading } from './reading.ts'

/** A command on the open store of a configuration, whose store is closed afterwards. */
export function acting(act: (app: Counterfoil, invocation: Invocation) => Promise<number>): Command['run'] {
  return reading(async (_, invocation) => await act(await invocation.app(), invocation))
}

export const operatorOption = { operator: { type: 'string' } } as const
export const actOptions = {
  ...operatorOption,
  reason: { type: 'string' },
  decision: { type: 'string' },
} as const
export const actUsage = '--operator NAME --reason TEXT [--decision ID]'

/** `--operator`, else `COUNTERFOIL_OPERATOR`. @throws CounterfoilError `not_authorised`, `decision_invalid` */
export function operatorOf({ operators }: Counterfoil, { options }: Invocation): Operator {
  return operatorNamed(operators, text(options.operator) ?? process.env.COUNTERFOIL_OPERATOR)
}

/** Who only looks and names nobody may look. */
export function viewerOf(app: Counterfoil, invocation: Invocation): Operator {
  const named = text(invocation.options.operator) ?? process.env.COUNTERFOIL_OPERATOR
  return named === undefined ? { name: '-', role: 'viewer' } : operatorOf(app, invocation)
}

export function actOf(app: Counterfoil, invocation: Invocation): Act {
  const { reason, decision } = invocation.options
  return {
    operator: operatorOf(app, invocation),
    reason: text(reason) ?? '',
    decision: text(decision) ?? randomUUID(),
  }
}

/** @throws CounterfoilError `usage_invalid` without a usable `--version` */
export function decisionOf(
  app: Counterfoil,
  invocation: Invocation,
  shownBy = 'quarantine show ENTRY',
): Decision {
  const { version } = invocation.options
  if (!/^[1-9]\d{0,14}$/.test(String(version))) {
    throw new CounterfoilError('usage_invalid', 'Give the version that you decided on: --version N.', {
      hint: `It is shown by: counterfoil ${shownBy}`,
    })
  }
  return { ...actOf(app, invocation), expectedVersion: Number(version) }
}

function text(option: Invocation['options'][string]): string | undefined {
  return typeof option === 'string' ? option : undefined
}
