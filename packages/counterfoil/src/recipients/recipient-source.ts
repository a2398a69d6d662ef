import type { Contract } from '../domain/index.ts'
import type { Recipient } from './recipient.ts'

/** Recipients that come while the program runs: endpoints that customers register, each a recipient of its own. */
export interface RecipientSource {
  /** Begins the name of each of them, before a slash. */
  readonly name: string
  /** The same for all of them. */
  readonly contract: Contract
  /** Puts there those that are known, and each later one when it comes. None is taken away: effects may wait for it. */
  attach(recipients: Map<string, Recipient>): void
  /** Called often while effects are worked on: looks for new ones where the last look is long ago. Does not wait. */
  freshen(): void
}

export function isSource(one: Recipient<any> | RecipientSource): one is RecipientSource {
  return 'attach' in one
}
