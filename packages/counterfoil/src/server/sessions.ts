import { hash, randomBytes } from 'node:crypto'
import type { Clock, Instant } from '../domain/index.ts'
import type { Operator } from '../operate/index.ts'

/** A session ends when its operator does nothing for this long … */
export const idleMs = 30 * 60_000
/** … and this long after its sign-in in any case. */
export const absoluteMs = 12 * 60 * 60_000
/** Sessions at once, at most; the one that was quiet longest makes room. */
const maxSessions = 1_000

interface Session {
  readonly operator: Operator
  readonly endsAt: Instant
  idleAt: Instant
}

/**
 * Who is signed in at the console. Sessions live in the memory of the server that made them: a restart ends all
 * of them, and signing out ends one for good. Kept under a digest of the secret that the browser holds.
 */
export class Sessions {
  readonly #clock: Clock
  readonly #sessions = new Map<string, Session>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns the secret of a session that nobody had before: 256 random bits */
  begin(operator: Operator): string {
    const now = this.#clock.now()
    this.#forgetEnded(now)
    const [quietest] = this.#sessions.keys()
    if (this.#sessions.size >= maxSessions && quietest !== undefined) this.#sessions.delete(quietest)
    const secret = randomBytes(32).toString('base64url')
    this.#sessions.set(nameOf(secret), { operator, endsAt: now + absoluteMs, idleAt: now + idleMs })
    return secret
  }

  /**
   * Whose session it is; null when there is none, or it has ended.
   *
   * @param about.active false for what the page asks by itself: it keeps no session alive
   */
  operatorOf(secret: string | undefined, { active }: { readonly active: boolean }): Operator | null {
    if (secret === undefined) return null
    const name = nameOf(secret)
    const session = this.#sessions.get(name)
    if (session === undefined) return null
    const now = this.#clock.now()
    this.#sessions.delete(name)
    if (hasEnded(session, now)) return null
    if (active) session.idleAt = now + idleMs
    this.#sessions.set(name, session)
    return session.operator
  }

  end(secret: string | undefined): void {
    if (secret !== undefined) this.#sessions.delete(nameOf(secret))
  }

  #forgetEnded(now: Instant): void {
    for (const [name, session] of this.#sessions) if (hasEnded(session, now)) this.#sessions.delete(name)
  }
}

function hasEnded({ endsAt, idleAt }: Session, now: Instant): boolean {
  return now >= endsAt || now >= idleAt
}

function nameOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}
