import { type MarkerVault, markerKey } from '../marker-key.ts'
import { Marking, markerKeyMissing } from '../marking.ts'
import type { Sealed } from '../records.ts'
import type { SqlValue } from '../store.ts'
import type { Row, Run } from './connection.ts'
import { toSealed } from './rows.ts'
import { quoted, type Statement } from './statement.ts'

/**
 * Statements carry markers only once there are some. One that went without and meets a store that has them tells so,
 * decides nothing, and is run again with them.
 */
export class Marks {
  readonly #location: string
  readonly #statements
  #marking: Marking | undefined
  #inUse = false

  constructor(schema: string, location: string) {
    this.#location = location
    this.#statements = markerKeyStatements(schema)
  }

  /** @param vault undefined: what needs the key is refused */
  async open(vault: MarkerVault | undefined, run: Run): Promise<void> {
    this.#marking = undefined
    this.#inUse = false
    if (vault === undefined) return
    const { read, write } = this.#statements
    const place = {
      async read() {
        const [row] = await run(read, [])
        const key = row === undefined || row.key_id === null ? null : toSealed(row)
        return { key, marked: row?.marked === true }
      },
      async write({ keyId, nonce, ciphertext }: Sealed, known: Sealed | null) {
        await run(write, [keyId, nonce, ciphertext, known?.nonce ?? null])
      },
    }
    this.#marking = new Marking(await markerKey(place, vault))
    this.#inUse = (await place.read()).marked
  }

  /** @throws CounterfoilError `marker_key_missing` */
  get made(): Marking {
    if (this.#marking === undefined) throw markerKeyMissing(this.#location)
    return this.#marking
  }

  /** Null while nothing was ever forgotten, as far as is known here. */
  get current(): Marking | null {
    return this.#inUse ? this.made : null
  }

  /** A statement told that there are markers. @throws CounterfoilError `marker_key_missing` */
  found(): void {
    this.#inUse = this.made !== undefined
  }

  async run(
    statement: Statement,
    parametersOf: (marking: Marking | null) => SqlValue[],
    run: Run,
  ): Promise<Row[]> {
    const rows = await run(statement, parametersOf(this.current))
    if (!rows.some(({ unmarked }) => unmarked === true)) return rows
    this.found()
    return await run(statement, parametersOf(this.current))
  }
}

export function markerKeyStatements(schema: string): { readonly read: Statement; readonly write: Statement } {
  const s = quoted(schema)
  return {
    read: {
      name: 'counterfoil_marker_key',
      writes: false,
      text: `select key_id, nonce, ciphertext, marked from ${s}.retention where one = 1`,
    },
    write: {
      name: 'counterfoil_keep_marker_key',
      writes: true,
      text: `insert into ${s}.retention as r (one, key_id, nonce, ciphertext) values (1, $1::text, $2::bytea, $3::bytea)
        on conflict (one) do update set key_id = excluded.key_id, nonce = excluded.nonce, ciphertext = excluded.ciphertext
        where r.nonce is not distinct from $4::bytea`,
    },
  }
}
