import type { DatabaseSync } from 'node:sqlite'

/** Totals of the transaction in work, written once at its end. */
export class Counts {
  readonly #changes = new Map<string, number>()
  readonly #write
  readonly #read

  constructor(db: DatabaseSync) {
    this.#write = db.prepare(
      'insert into counterfoil_count (name, value) values (?, ?) on conflict (name) do update set value = value + excluded.value',
    )
    this.#read = db.prepare('select name, value from counterfoil_count')
  }

  add(name: string, by: number): void {
    this.#changes.set(name, (this.#changes.get(name) ?? 0) + by)
  }

  /** Before COMMIT. */
  write(): void {
    for (const [name, by] of this.#changes) if (by !== 0) this.#write.run(name, by)
    this.#changes.clear()
  }

  /** After ROLLBACK. */
  forget(): void {
    this.#changes.clear()
  }

  read(): Map<string, number> {
    const rows = this.#read.all() as { name: string; value: number }[]
    const totals = new Map(rows.map(({ name, value }) => [name, value]))
    for (const [name, by] of this.#changes) totals.set(name, (totals.get(name) ?? 0) + by)
    return totals
  }
}
