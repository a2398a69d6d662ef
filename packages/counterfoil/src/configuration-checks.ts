import { CounterfoilError } from './domain/index.ts'
import type { Trigger } from './engine/index.ts'
import { isInternal, type Producer } from './intake/index.ts'
import type { BackfillOptions, ConsumerOptions } from './options.ts'
import type { Transactions } from './store/index.ts'

/** A name becomes part of each receipt's origin, and of routes. */
export const backfillName = /^[A-Za-z0-9._-]{1,100}$/

/** @throws CounterfoilError `config_invalid` */
export function checkBackfills(
  backfills: ReadonlyMap<string, BackfillOptions>,
  producers: ReadonlyMap<string, Producer>,
): void {
  for (const [name, { producer }] of backfills) {
    if (!backfillName.test(name)) {
      throw new CounterfoilError('config_invalid', `'${name}' is no name of a backfill.`, {
        hint: 'Give 1 to 100 letters, digits or . _ -',
      })
    }
    if (producers.get(producer.name) === producer && !isInternal(producer)) continue
    throw new CounterfoilError(
      'config_invalid',
      `Backfill '${name}' is of producer '${producer.name}', which does not receive in this configuration.`,
      { hint: 'Add it to producers, or subscribe to an event of it.' },
    )
  }
}

/** What the program publishes itself comes from no broker. */
export function checkConsumers(consumers: readonly ConsumerOptions[]): void {
  const own = consumers.find(({ producer }) => isInternal(producer))
  if (own === undefined) return
  throw new CounterfoilError(
    'config_invalid',
    `Producer '${own.producer.name}' is the program itself, and a consumer takes messages in for it.`,
    { hint: 'Give the messages of a broker a producer of their own.' },
  )
}

/** A handle of another client than the one that began the transaction would be none. */
export function checkTransactions(
  triggers: readonly Trigger[],
  transactions: Transactions<any> | undefined,
): void {
  const stranger = triggers.find((trigger) => trigger.in !== undefined && trigger.in !== transactions)
  if (stranger === undefined) return
  throw new CounterfoilError(
    'config_invalid',
    `Trigger '${stranger.name}' plans in transactions of ${stranger.in?.client} that the configuration does not have.`,
    { hint: 'Give one value to `transactions` of the configuration and to `in` of its triggers.' },
  )
}

/** @throws CounterfoilError `config_invalid` when two have one name */
export function byName<Named extends { readonly name: string }>(
  what: string,
  named: readonly Named[],
): Map<string, Named> {
  const map = new Map<string, Named>()
  for (const one of named) {
    if (map.has(one.name)) {
      throw new CounterfoilError('config_invalid', `Two ${what}s are named '${one.name}'.`, {
        hint: 'Give each a name of its own.',
      })
    }
    map.set(one.name, one)
  }
  return map
}
