import type { DatabaseSync } from 'node:sqlite'
import type { Instant, Limits } from '../../domain/index.ts'

/** An attempt that limits forbade for want of a place is looked at again after this time; a token's time is known. */
const placeWaitMs = 1_000

/** What limits leave room for at a recipient. Inside the write transaction, so no other worker begins meanwhile. */
export class Pace {
  readonly #bucket
  readonly #fill
  readonly #ended
  readonly #flying
  readonly #begin

  constructor(db: DatabaseSync) {
    this.#bucket = db.prepare('select tokens, filled_at from counterfoil_pace where recipient = ?')
    this.#fill = db.prepare(`
      insert into counterfoil_pace (recipient, tokens, filled_at) values (?, ?, ?)
      on conflict (recipient) do update set tokens = excluded.tokens, filled_at = excluded.filled_at`)
    // The primary key by its recipient, then those of due, effect and attempt. A later attempt has a row of its own.
    this.#ended = db.prepare(`
      delete from counterfoil_in_flight as f where recipient = ?1 and not exists (
        select 1 from counterfoil_due d join counterfoil_effect e on e.seq = d.effect
        where d.effect = f.effect and d.at > ?2 and e.state = 'attempting'
          and not exists (select 1 from counterfoil_attempt a where a.effect = f.effect and a.number > f.attempt))`)
    this.#flying = db.prepare('select count(*) as count from counterfoil_in_flight where recipient = ?')
    this.#begin = db.prepare(
      'insert into counterfoil_in_flight (recipient, effect, attempt) values (?, ?, ?)',
    )
  }

  /** Attempts that may begin now. */
  room(recipient: string, { concurrency, rate }: Limits, now: Instant): number {
    let room = Number.MAX_SAFE_INTEGER
    if (rate !== null) room = Math.floor(this.#tokens(recipient, rate, now))
    if (concurrency !== null) {
      this.#ended.run(recipient, now)
      const { count } = this.#flying.get(recipient) as { count: number }
      room = Math.min(room, concurrency - count)
    }
    return room
  }

  begun(
    recipient: string,
    { concurrency, rate }: Limits,
    effect: number,
    attempt: number,
    now: Instant,
  ): void {
    if (rate !== null) this.#fill.run(recipient, this.#tokens(recipient, rate, now) - 1, now)
    if (concurrency !== null) this.#begin.run(recipient, effect, attempt)
  }

  /** Milliseconds until another try makes sense, where there is no room. */
  wait(recipient: string, { rate }: Limits, now: Instant): number {
    const missing = rate === null ? 0 : 1 - this.#tokens(recipient, rate, now)
    return missing <= 0 ? placeWaitMs : Math.ceil((missing * rate!.perMs) / rate!.count)
  }

  /** A clock that was set back fills nothing, and is believed from then on. */
  #tokens(recipient: string, { count, perMs }: NonNullable<Limits['rate']>, now: Instant): number {
    const bucket = this.#bucket.get(recipient) as { tokens: number; filled_at: number } | undefined
    if (bucket === undefined) return count
    const filled = (Math.max(0, now - bucket.filled_at) * count) / perMs
    return Math.min(count, bucket.tokens + filled)
  }
}
