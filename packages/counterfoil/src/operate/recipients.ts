import type { Counterfoil } from '../counterfoil.ts'
import type { Contract, Limits } from '../domain/index.ts'
import { placeOf } from '../recipients/index.ts'
import { contractInWords } from './contract-in-words.ts'
import { authorise, type Operator } from './operator.ts'
import { healthOf, type RecipientHealth } from './recipient-health.ts'

export interface ShownRecipient extends RecipientHealth {
  /** Where it is, without credentials. */
  readonly place: string
  readonly contract: Contract
  /** What the engine does there, derived from the contract. */
  readonly inWords: readonly string[]
  /** Attempts in flight at once from one process. */
  readonly concurrency: number
  readonly limits: Limits | null
  readonly timeoutMs: number
}

/** Every recipient of the configuration. @throws CounterfoilError `not_authorised` */
export async function listRecipients(app: Counterfoil, operator: Operator): Promise<ShownRecipient[]> {
  authorise(operator, 'recipients.list')
  const { recipients } = await healthOf(app)
  return recipients.map((health) => {
    const recipient = app.recipients.get(health.recipient)!
    const { contract, concurrency, limits, timeoutMs } = recipient
    return {
      ...health,
      place: placeOf(recipient),
      contract,
      inWords: contractInWords(contract),
      concurrency,
      limits: limits ?? null,
      timeoutMs,
    }
  })
}
