import { assert, type RetentionStep } from '../../domain/index.ts'
import type { Marker } from '../marking.ts'
import type { ForgetBatch, Forgotten, SqlValue } from '../store.ts'
import { Block, numbers } from './columns.ts'
import type { Row, Run } from './connection.ts'
import { forgetStatements } from './forget-statements.ts'
import type { Marks } from './marks.ts'

/**
 * Retention, batch by batch. Each step walks a table that shrinks as it goes, from the oldest row on, and stops at
 * a batch that ends too young; so it costs what is to go and the few that have to stay, however long the history.
 */
export class Forget {
  readonly #statements
  readonly #marks: Marks

  constructor(schema: string, marks: Marks) {
    this.#statements = forgetStatements(schema)
    this.#marks = marks
  }

  /** @param run in one transaction */
  async forget(batch: ForgetBatch, run: Run): Promise<Forgotten> {
    const { step, until, after = [-1e15, 0], limit, dryRun = false } = batch
    const [place, seq] = after
    const { looks, take, close } = this.#statements
    const isMarkers = step === 'receipt-markers' || step === 'effect-markers'
    const asked = isMarkers ? [until, place, limit, seq] : [until, place, limit]
    const rows = await run(looks[step], asked)
    const going = rows.filter(({ done }) => done === true)
    if (!dryRun) {
      if (step === 'receipts' || step === 'effects') void this.#marks.made
      // In the commit that drops markers: a reader sees them, or that their time is closed.
      if (step === 'receipt-markers') await run(close, [until])
      if (going.length > 0) await run(take[step], this.#parametersOf(step, going))
    }
    const last = rows.at(-1)
    return {
      count: going.length,
      bytes: going.reduce((sum, { bytes }) => sum + bytes, 0),
      next: rows.length < limit || last === undefined || last.young ? null : [last.place, last.seq],
    }
  }

  #parametersOf(step: RetentionStep, going: readonly Row[]): SqlValue[] {
    const seqs = numbers(going.map(({ seq }) => seq))
    if (step !== 'receipts' && step !== 'effects') return [seqs]
    const block = new Block()
    const { made } = this.#marks
    for (const row of going) {
      const marker: Marker =
        step === 'receipts'
          ? made.receipt(row.delivery, row.fingerprint)
          : made.effect(row.recipient, row.key, row.fingerprint)
      block.add(marker.digest)
      block.add(marker.content)
    }
    assert(
      going.every(({ id }) => typeof id === 'string'),
      'what becomes a marker has an id',
    )
    return [seqs, block.toBytes()]
  }
}
