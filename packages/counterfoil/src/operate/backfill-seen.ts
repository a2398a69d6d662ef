import { DatabaseSync } from 'node:sqlite'
import type { DeliveryDigest, Fingerprint } from '../domain/index.ts'
import type { DeliveryKnown } from '../store/index.ts'

/**
 * What a source holds, while it is looked through: in a database of SQLite's own in the temporary directory, which goes
 * with this object. Memory stays the same however many events there are.
 */
export class Seen {
  readonly #db = new DatabaseSync('')
  readonly #any
  readonly #add
  readonly #addNumber
  readonly #holes

  constructor() {
    this.#db.exec(`
      pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -16000;
      create table event (delivery text not null, fingerprint text not null, primary key (delivery, fingerprint)) strict, without rowid;
      create table number (within text not null, number integer not null, primary key (within, number)) strict, without rowid;
      begin`)
    this.#any = this.#db.prepare('select 1 from event where delivery = ? limit 1')
    this.#add = this.#db.prepare('insert into event values (?, ?) on conflict do nothing')
    this.#addNumber = this.#db.prepare('insert into number values (?, ?) on conflict do nothing')
    this.#holes = this.#db.prepare(`
      select within, before + 1 as "from", number - 1 as "to" from (
        select within, number, lag(number) over (partition by within order by number) as before from number)
      where number > before + 1`)
    this.#holes.setReadBigInts(true)
  }

  /**
   * @param stored what the store says of it
   * @returns what it will be when all before it were taken in
   */
  add(delivery: DeliveryDigest, fingerprint: Fingerprint, stored: DeliveryKnown): DeliveryKnown {
    const isFirst = stored === 'new' && this.#any.get(delivery) === undefined
    const isNew = this.#add.run(delivery, fingerprint).changes === 1
    if (stored === 'duplicate' || !isNew) return 'duplicate'
    return isFirst ? 'new' : 'conflicting'
  }

  has(delivery: DeliveryDigest): boolean {
    return this.#any.get(delivery) !== undefined
  }

  addNumber(within: string, number: bigint): void {
    this.#addNumber.run(within, number)
  }

  /** Between the numbers that were added, in their order. */
  *holes(): Generator<{ readonly within: string; readonly from: string; readonly to: string }> {
    for (const row of this.#holes.iterate()) {
      const { within, from, to } = row as { within: string; from: bigint; to: bigint }
      yield { within, from: String(from), to: String(to) }
    }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}
