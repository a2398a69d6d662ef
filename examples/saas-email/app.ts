import type { DatabaseSync } from 'node:sqlite'
import { type Counterfoil, counterfoil, internal, recipient, type Store, trigger } from 'counterfoil'
import { nodeSqlite } from 'counterfoil/adapters/node-sqlite'
import { z } from 'zod'

const Signup = z.object({ user: z.string(), email: z.string() })

/** The program itself is the producer: it publishes in its own transactions. */
export const signedUp = internal('accounts').event('user.signed-up', { schema: Signup })

/**
 * A welcome mail for who signed up, by a provider that does not recognise a repeated request.
 *
 * @param about.database a connection of the program's own to the store's file
 */
export function accounts(about: {
  store: Store
  database: DatabaseSync
  provider: string
}): Counterfoil<DatabaseSync> {
  const transactions = nodeSqlite(about.database)
  const provider = recipient('mail-provider', {
    url: about.provider,
    allowPrivateAddresses: true,
    timeout: '300ms',
    contract: {
      // No idempotency: a repeat is a second mail. It takes a reference of ours, and its log can be searched by that.
      lookup: {
        by: 'function',
        after: '100ms',
        // It says nothing of how late a request may still be taken: "not there" proves nothing.
        absence: { final: false },
      },
    },
    lookup: async ({ effectKey, signal }) => {
      const search = `${about.provider}/messages?reference=${encodeURIComponent(effectKey)}`
      const { messages } = (await (await fetch(search, { signal })).json()) as { messages: number }
      return messages > 0
        ? { kind: 'acted', why: 'the log has it' }
        : { kind: 'absent', why: 'not in the log' }
    },
  })
  const welcome = provider.effect('welcome.send', {
    payload: Signup,
    request: ({ user, email }) => ({
      method: 'POST',
      path: '/messages',
      body: { to: email, template: 'welcome', reference: referenceOf(user) },
    }),
  })
  return counterfoil({
    store: about.store,
    transactions,
    recipients: [provider],
    triggers: [
      trigger('welcome who signed up', {
        on: signedUp,
        in: transactions,
        plan: ({ data }, { effect }) => effect(welcome, { key: referenceOf(data.user), payload: data }),
      }),
    ],
    log: () => {},
  })
}

export function referenceOf(user: string): string {
  return `user/${user}/welcome/revision/1`
}
