import type { Limits } from '../../domain/index.ts'
import type { DueClaim, RepeatBegin } from '../store.ts'
import type { Turns } from '../turns.ts'
import { texts } from './columns.ts'
import type { Row, Run } from './connection.ts'
import { beginRepeatParameters, takeDueParameters } from './due.ts'
import { limitParameters } from './pace.ts'
import type { writingStatements } from './statements.ts'
import type { Timekeeper } from './time.ts'

export interface LimitedClaim extends DueClaim {
  /** Of each recipient that has slots. */
  readonly limits: Readonly<Record<string, Limits>>
}

export interface LimitedPorts {
  readonly statements: ReturnType<typeof writingStatements>
  readonly time: Timekeeper
  readonly turns: Turns
  /** Runs statements of one commit. */
  readonly together: (work: (run: Run) => Promise<Row[]>) => Promise<Row[]>
}

/**
 * What begins under limits, in transactions of two statements: the second one sees all that was begun by who held
 * these recipients before.
 */
export class Limited {
  readonly #ports: LimitedPorts

  constructor(ports: LimitedPorts) {
    this.#ports = ports
  }

  takeDue(claim: LimitedClaim): Promise<Row[]> {
    const { statements, time, turns, together } = this.#ports
    return together(async (run) => {
      const rows = await run(statements.holdOrPass, [texts(Object.keys(claim.slots).sort())])
      const held = rows.map(({ recipient }) => recipient as string)
      if (held.length === 0) return []
      const slots = Object.fromEntries(held.map((name) => [name, claim.slots[name]!]))
      const limits = limitParameters(held.map((name) => [name, claim.limits[name]!]))
      return await run(statements.takeDueLimited, [
        ...takeDueParameters({ ...claim, slots }, time, turns),
        ...limits,
      ])
    })
  }

  beginRepeat(repeat: RepeatBegin, limited: NonNullable<RepeatBegin['limited']>): Promise<Row[]> {
    const { statements, time, together } = this.#ports
    return together(async (run) => {
      await run(statements.hold, [texts([limited.recipient])])
      const limits = limitParameters([[limited.recipient, limited.limits]])
      return await run(statements.beginRepeatLimited, [...beginRepeatParameters(repeat, time), ...limits])
    })
  }
}

/** Recipients without limits cost one statement, those with limits a transaction; null where there are none. */
export function byLimits(claim: DueClaim): { free: DueClaim | null; limited: LimitedClaim | null } {
  const { limits = {} } = claim
  const part = (isLimited: boolean) => {
    const slots = Object.entries(claim.slots).filter(
      ([name, count]) => count >= 1 && (limits[name] !== undefined) === isLimited,
    )
    return slots.length === 0 ? null : { ...claim, limits, slots: Object.fromEntries(slots) }
  }
  return { free: part(false), limited: part(true) }
}
