import { CounterfoilError } from '../domain/index.ts'

/** The handle is one on which each statement would be a transaction of its own. */
export function transactionMissing(client: string, hint: string): CounterfoilError {
  return new CounterfoilError(
    'transaction_missing',
    `The ${client} handle is not in a transaction, or its transaction is over: nothing was written.`,
    { hint },
  )
}
