/**
 * Parameters of statements that take many rows at once: one array a column. Arrays are written as PostgreSQL's
 * own text form (postgresql.org/docs/current/arrays.html#ARRAYS-IO), so that the same statements run through
 * any driver, also one that knows no arrays. Bytes go as one block beside them: in an array they would be
 * written in hexadecimal.
 */

export function texts(values: readonly (string | null | undefined)[]): string {
  const written = values.map((value) =>
    value === null || value === undefined ? 'NULL' : special.test(value) ? escaped(value) : `"${value}"`,
  )
  return `{${written.join(',')}}`
}

/** Hardly any value holds one: asking first costs a sixth of replacing in each. */
const special = /["\\\0]/

function escaped(value: string): string {
  return `"${storable(value).replace(/["\\]/g, '\\$&')}"`
}

/** PostgreSQL's text holds no NUL; the replacement character tells that something stood there. */
export function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}

export function numbers(values: readonly (number | null | undefined)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

export function booleans(values: readonly boolean[]): string {
  return `{${values.join(',')}}`
}

/** Whether a statement takes any number of rows or exactly one: to unnest twenty arrays costs a millisecond, however short. */
export type Rows = 'many' | 'one'

/**
 * The rows of arrays, in a FROM clause: `unnest($1::text[], …) with ordinality as g(id, …, n)`.
 *
 * @param arrays and the columns they become
 */
export function rowsOf(
  rows: Rows,
  name: string,
  arrays: readonly (readonly [array: string, column: string])[],
  ordinal: string,
): string {
  if (rows === 'one') {
    const columns = arrays.map(([array, column]) => `(${array})[1] as ${column}`)
    return `(select ${columns.join(', ')}, 1::bigint as ${ordinal}) as ${name}`
  }
  const columns = [...arrays.map(([, column]) => column), ordinal]
  return `unnest(${arrays.map(([array]) => array).join(', ')}) with ordinality as ${name}(${columns.join(', ')})`
}

/** Lays byte strings one behind the other. */
export class Block {
  readonly #parts: Uint8Array[] = []
  #length = 0

  /** @returns where it begins, counted from 1 as `substring` counts */
  add(bytes: Uint8Array): number {
    this.#parts.push(bytes)
    const at = this.#length + 1
    this.#length += bytes.length
    return at
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#parts, this.#length)
  }
}
