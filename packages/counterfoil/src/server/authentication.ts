import { type Clock, CounterfoilError } from '../domain/index.ts'
import type { Credentials, Operator } from '../operate/index.ts'

/** Failures from one address in one window, at most. */
export const maxFailures = 10
export const failureWindowMs = 60_000
/** Addresses that are remembered; when there are more, the oldest are forgotten. */
const maxAddresses = 4_096

/** Finds the operator of a request, and makes guessing slow. */
export class Authentication {
  readonly #credentials: Credentials
  readonly #clock: Clock
  readonly #failures = new Map<string, { count: number; until: number }>()

  constructor(credentials: Credentials, clock: Clock) {
    this.#credentials = credentials
    this.#clock = clock
  }

  /**
   * @param authorization the header, if there is one
   * @throws CounterfoilError `not_authenticated`, `credentials_locked`
   */
  operatorOf(authorization: string | undefined, address: string): Operator {
    const now = this.#clock.now()
    const failed = this.#failures.get(address)
    if (failed !== undefined && failed.until > now && failed.count >= maxFailures) {
      throw new CounterfoilError(
        'credentials_locked',
        'Too many failed credentials came from this address.',
        {
          hint: 'Try again in a minute.',
        },
      )
    }
    const [, token = ''] = /^Bearer ([\x21-\x7e][\x20-\x7e]{0,511})$/i.exec(authorization ?? '') ?? []
    const operator = this.#credentials.operatorOf(token)
    if (operator !== null) return operator
    this.#count(address, now)
    throw new CounterfoilError('not_authenticated', 'Send the token of an operator as a bearer token.', {
      hint: this.#credentials.isEmpty
        ? 'No operator has a token: set COUNTERFOIL_OPERATORS or operators in the configuration.'
        : 'Authorization: Bearer TOKEN',
    })
  }

  #count(address: string, now: number): void {
    const before = this.#failures.get(address)
    const running = before !== undefined && before.until > now
    this.#failures.delete(address)
    this.#failures.set(address, {
      count: running ? before.count + 1 : 1,
      until: running ? before.until : now + failureWindowMs,
    })
    const [oldest] = this.#failures.keys()
    if (this.#failures.size > maxAddresses && oldest !== undefined) this.#failures.delete(oldest)
  }
}
