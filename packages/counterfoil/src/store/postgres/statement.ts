import { assert } from '../../domain/index.ts'

/** One statement of ours. Its name is that of its prepared form on each connection. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** A statement that writes leaves its outcome open when its answer is lost. */
  readonly writes: boolean
}

/** A schema's name, quoted; `postgres()` has checked it. */
export function quoted(schema: string): string {
  assert(!schema.includes('"'), 'a schema name without quotes')
  return `"${schema}"`
}

/** A fingerprint's bytes as the text that the port speaks. */
export function fingerprintText(column: string): string {
  return `case get_byte(${column}, 0) when 1 then 'jcs-sha256:' else 'raw-sha256:' end || encode(substring(${column} from 2), 'hex')`
}

/** An instant as RFC 3339 text in UTC, to the millisecond. */
export function isoText(column: string): string {
  return `to_char(to_timestamp(${column} / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/**
 * The key is among those of a CTE's column, as a condition that an index takes: a plan made while the table was empty
 * does not read all of it when it has grown. It takes the place of a join where a statement takes many rows. Beside one,
 * a planner that expects a single row compares each with each: of 512 settlements 262,144 pairs, 0.25 s for what takes 10 ms.
 */
export function keyed(key: string, cte: string, column: string): string {
  return `${key} = any(array(select ${column} from ${cte}))`
}

/**
 * Is the value among those of a CTE's column? Inside a test for truth a subquery is not made a join: it is
 * hashed once and probed, however many rows the planner expects.
 */
export function among(column: string, cte: string, value: string = column): string {
  return `(${value} in (select ${column} from ${cte})) is true`
}
