import { CounterfoilError } from '../../domain/index.ts'
import type { Plan, Planned } from '../store.ts'
import type { Link } from './link.ts'
import type { SessionOrder } from './protocol.ts'

/** Sessions that ran out of time and are remembered, so that a late call is told why. */
const maxRemembered = 64

/** Calls back after so many milliseconds; returns a cancel function. */
export type After = (ms: number, callback: () => void) => () => void

const afterRealTime: After = (ms, callback) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

/** The transaction of a trigger that runs statements of its own. There is one at most; everything else waits for its end. */
export class Session {
  readonly #link: Link
  readonly #onEnd: () => void
  readonly #after: After
  #open: { readonly id: number; readonly cancel: () => void } | undefined
  readonly #timedOut: number[] = []

  /** @param onEnd a session ran out of time: what waited may go on */
  constructor(link: Link, onEnd: () => void, after: After = afterRealTime) {
    this.#link = link
    this.#onEnd = onEnd
    this.#after = after
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  begin(id: number, timeoutMs: number): number {
    this.#link.begin(false)
    try {
      this.#link.connected().db.exec('savepoint trigger_statements')
    } catch (error) {
      this.#link.rollback()
      throw this.#link.told(error)
    }
    const cancel = this.#after(timeoutMs, () => {
      this.#timedOut.push(id)
      if (this.#timedOut.length > maxRemembered) this.#timedOut.shift()
      this.#rollback()
      this.#onEnd()
    })
    this.#open = { id, cancel }
    return id
  }

  perform(order: SessionOrder): unknown {
    switch (order.do) {
      case 'statement':
        this.#check(order.session)
        try {
          return this.#link.connected().triggerStatements.run(order.statement)
        } catch (error) {
          throw this.#link.told(error, 'statement')
        }
      case 'commit':
        return this.#commit(order.session, order.plan)
      case 'rollback':
        if (this.#open?.id === order.session) this.#rollback()
        return undefined
    }
  }

  #commit(id: number, plan: Plan): Planned {
    this.#check(id)
    const { db, planning } = this.#link.connected()
    let planned: Planned
    try {
      planned = planning.plan(plan, () => db.exec('rollback to trigger_statements'))
    } catch (error) {
      const told = this.#link.told(error)
      this.#rollback()
      throw told
    }
    this.#end()
    this.#link.commit()
    return planned
  }

  /** The session is the one that is open, and no statement of the trigger has ended its transaction. */
  #check(id: number): void {
    if (this.#timedOut.includes(id)) {
      throw new CounterfoilError(
        'trigger_timeout',
        'The trigger took longer than its time limit; its transaction was rolled back.',
        {
          hint: 'A trigger only plans: it writes few rows and calls nobody.',
        },
      )
    }
    if (this.#open?.id === id && this.#link.inTransaction) return
    if (this.#open?.id === id) this.#rollback()
    throw new CounterfoilError('transaction_closed', 'The transaction of this trigger is over.', {
      hint: 'It was committed or rolled back, or one of its statements failed in a way that ended it.',
    })
  }

  #rollback(): void {
    this.#end()
    this.#link.rollback()
  }

  #end(): void {
    this.#open?.cancel()
    this.#open = undefined
  }
}
