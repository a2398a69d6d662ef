import type { Counterfoil } from './counterfoil.ts'
import { CounterfoilError, type Duration, isFinalState, milliseconds } from './domain/index.ts'
import type { ReceiptStory } from './store/index.ts'

/** What became of everything that one event caused. */
export type Outcome =
  /** Each effect is confirmed, refused, fenced or withdrawn: none will ever move again. */
  | { readonly kind: 'final'; readonly effects: ReceiptStory['effects'] }
  /** The time is over, and some effect may still act or may have acted: never a reason to make it again. */
  | { readonly kind: 'open'; readonly effects: ReceiptStory['effects'] }
  /** It never started work; a person sees it in quarantine. */
  | { readonly kind: 'quarantined'; readonly reason: string }

export interface OutcomeOptions {
  /** How long to wait for what is not final. Default `30s`. */
  readonly within?: Duration
  /** How often the store is asked. Default `100ms`. */
  readonly poll?: Duration
}

/**
 * Waits for what an event causes: for a job of another system that is to end with the effect and not before. The work
 * goes on whether or not anybody waits, here or in another process; a job that is run again publishes the same event,
 * gets the same receipt, and waits for the same effects.
 *
 * @param receipt what `app.publish` or a delivery's answer gave
 * @throws CounterfoilError `not_found`, and what reading the store throws
 * @example
 * const { receipt } = await transaction((tx) => app.publish(tx, { type: due, id: job.id, data: job.data }))
 * const outcome = await outcomeOf(app, receipt, { within: '60s' })
 */
export async function outcomeOf(
  app: Pick<Counterfoil<any>, 'store' | 'clock'>,
  receipt: string,
  { within = '30s', poll = '100ms' }: OutcomeOptions = {},
): Promise<Outcome> {
  const { clock, store } = app
  const until = clock.now() + milliseconds(within)
  const pollMs = milliseconds(poll)
  for (;;) {
    const story = await store.showReceipt(receipt)
    if (story === null) throw new CounterfoilError('not_found', `There is no receipt '${receipt}'.`)
    const outcome = read(story)
    if (outcome.kind !== 'open' || clock.now() >= until) return outcome
    await new Promise<void>((resolve) => void clock.after(pollMs, resolve))
  }
}

function read({ receipt, quarantine, effects }: ReceiptStory): Outcome {
  if (receipt.state === 'quarantined') return { kind: 'quarantined', reason: quarantine?.reason ?? 'unknown' }
  const isDone = receipt.state === 'planned' && effects.every(({ state }) => isFinalState(state))
  return { kind: isDone ? 'final' : 'open', effects }
}
