import type { EffectView } from '../records.ts'
import type { Acceptance, Accepted, Plan, Planned, Settled, Settlement } from '../store.ts'
import { acceptParameters, spread, toAccepted } from './accept.ts'
import { mayBeFresh, toFresh } from './accept-fresh.ts'
import { arrivalParameters } from './arrival-columns.ts'
import { type Arrivals, namesOf as arrivalNames, arrivals } from './arrivals.ts'
import type { Run } from './connection.ts'
import type { Connections } from './connections.ts'
import { answerEach, answerTogether, Gatherer } from './gather.ts'
import type { Marks } from './marks.ts'
import { type PlanPorts, planAll, namesOf as planNames } from './plan.ts'
import { mayBeFreshPlan, planFreshParameters, toPlannedFresh } from './plan-fresh.ts'
import type { Reading } from './read.ts'
import { notMoved, settleParameters } from './settle.ts'
import { endsAtFirst, settleFirstParameters } from './settle-first.ts'
import type { writingStatements } from './statements.ts'
import type { Timekeeper } from './time.ts'

export interface BatchPorts {
  readonly location: string
  readonly lanes: number
  readonly time: Timekeeper
  readonly marks: Marks
  readonly statements: ReturnType<typeof writingStatements>
  readonly connections: Connections
  readonly run: Run
  readonly reading: Reading
  /** A batch was committed. */
  readonly onWritten: () => void
}

/** Calls in one statement at most. */
const maxBatch = 512
/** Settlements in one statement that joins: it compares each of its rows with each (statement.ts, keyed). */
const maxSettledOtherwise = 64
/** Payloads in one statement at most, in bytes; a larger single one goes alone. */
const maxBatchBytes = 16 * 1024 * 1024

/** The calls that share statements: receipts, plans and settlements. */
export class Batches {
  readonly #ports: BatchPorts
  readonly #accepts: Gatherer<Acceptance, Accepted>
  readonly #plans: Gatherer<Plan, Planned>
  readonly #settlements: Gatherer<Settlement, Settled>

  constructor(ports: BatchPorts) {
    const { location, lanes } = ports
    const limits = { lanes, maxBatch, maxBytes: maxBatchBytes }
    this.#ports = ports
    this.#accepts = new Gatherer(
      location,
      { ...limits, bytesOf: ({ payload }) => payload.ciphertext.length },
      (entries) => this.#acceptEach(entries),
    )
    this.#plans = new Gatherer(
      location,
      {
        ...limits,
        bytesOf: ({ effects }) => effects.reduce((sum, { request }) => sum + request.ciphertext.length, 0),
      },
      (plans) => answerEach(plans, planNames, this.#planning()),
    )
    const nameOf = ({ effect }: Settlement) => [effect]
    // One lane: nobody's call waits for a settlement, so fewer and fuller statements cost nothing.
    this.#settlements = new Gatherer(location, { ...limits, lanes: 1 }, (all) =>
      answerEach(all, nameOf, (some) => this.#settleAll(some)),
    )
  }

  accept(entry: Acceptance): Promise<Accepted> {
    return this.#accepts.push(entry)
  }

  plan(plan: Plan): Promise<Planned> {
    return this.#plans.push(plan)
  }

  settle(settlement: Settlement): Promise<Settled> {
    return this.#settlements.push(settlement)
  }

  /** All in one commit: later statements of it see what the earlier ones wrote. */
  async acceptTogether(entries: readonly Acceptance[]): Promise<Accepted[]> {
    if (entries.length === 0) return []
    const answers = await this.#ports.connections.commit((connection) =>
      this.acceptWith(entries, (statement, parameters) => connection.run(statement, parameters)),
    )
    this.#ports.onWritten()
    return answers
  }

  /** A commit of the caller's own held receipts. */
  written(): void {
    this.#ports.onWritten()
  }

  /** In the transaction that `run` runs in. */
  async acceptWith(entries: readonly Acceptance[], run: Run): Promise<Accepted[]> {
    const { arrivals: all, of } = arrivals(entries)
    const answers = await answerTogether(all, arrivalNames, this.#accepting(run))
    const refused = answers.find((answer) => answer instanceof Error)
    if (refused !== undefined) throw refused
    return spread(answers as Accepted[], of)
  }

  /** In the transaction that `run` runs in; a conflict writes nothing. */
  async planWith(plan: Plan, run: Run): Promise<Planned> {
    return (await planAll([plan], this.planPorts(), false, run))[0]!
  }

  planPorts(): PlanPorts {
    const { statements, time, marks } = this.#ports
    return { many: statements.plan, one: statements.planOne, time, marks }
  }

  async drained(): Promise<void> {
    await Promise.all([this.#accepts.drained(), this.#plans.drained(), this.#settlements.drained()])
  }

  /** Each in a commit that it may share with others. */
  async #acceptEach(entries: readonly Acceptance[]): Promise<(Accepted | Error)[]> {
    const { arrivals: all, of } = arrivals(entries)
    const answers = await answerEach(all, arrivalNames, this.#accepting(this.#ports.run))
    this.#ports.onWritten()
    return spread(answers, of)
  }

  /** What is new by its looks first, and what that left undecided by the statement that answers everything. */
  #accepting(run: Run): (some: readonly Arrivals[]) => Promise<(Accepted | Error | undefined)[]> {
    const { statements, time, marks } = this.#ports
    const tried = new Set<Arrivals>()
    return async (some) => {
      const fresh = new Set(
        marks.current === null ? some.filter((arrived) => mayBeFresh(arrived) && !tried.has(arrived)) : [],
      )
      const chosen = fresh.size > 0 ? fresh : new Set(some)
      // In one order everywhere, so that two that meet wait instead of locking each other out.
      const order = some.map((_, index) => index).filter((index) => chosen.has(some[index]!))
      const keys = some.map(({ first: { receipt } }) => `${receipt.eventId} ${receipt.delivery}`)
      order.sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1))
      const sorted = order.map((index) => some[index]!)
      for (const arrived of fresh) tried.add(arrived)
      const one = sorted.length === 1
      const rows =
        fresh.size > 0
          ? await run(
              one ? statements.acceptFreshOne : statements.acceptFresh,
              arrivalParameters(sorted, time, null),
            )
          : await run(
              one ? statements.acceptOne : statements.accept,
              acceptParameters(sorted, time, marks.current),
            )
      if (rows.some(({ verdict }) => verdict === 'unmarked')) marks.found()
      const toAnswer = fresh.size > 0 ? toFresh : toAccepted
      const answers: (Accepted | Error | undefined)[] = []
      for (const row of rows) answers[order[row.n - 1]!] = toAnswer(row, sorted[row.n - 1]!)
      return answers
    }
  }

  /** What is new by its looks first, and what that left undecided by the statement that answers everything. */
  #planning(): (some: readonly Plan[]) => Promise<(Planned | undefined)[]> {
    const { statements, time, marks, run } = this.#ports
    const tried = new Set<Plan>()
    return async (some) => {
      const fresh =
        marks.current === null ? some.filter((plan) => mayBeFreshPlan(plan) && !tried.has(plan)) : []
      const sorted = [...(fresh.length > 0 ? fresh : some)].sort((a, b) => a.outbox - b.outbox)
      const answers = new Map<Plan, Planned>()
      if (fresh.length > 0) {
        for (const plan of fresh) tried.add(plan)
        const statement = sorted.length === 1 ? statements.planFreshOne : statements.planFresh
        for (const row of await run(statement, planFreshParameters(sorted, time)))
          answers.set(sorted[row.n - 1]!, toPlannedFresh(row))
      } else {
        const planned = await planAll(sorted, this.planPorts(), true, run)
        for (const [index, plan] of sorted.entries()) answers.set(plan, planned[index]!)
      }
      return some.map((plan) => answers.get(plan))
    }
  }

  /** Those that end at their first attempt first; the others, where there are any, by the statement that settles everything. */
  async #settleAll(all: readonly Settlement[]): Promise<(Settled | Error | undefined)[]> {
    const { run, statements, time, onWritten } = this.#ports
    const ending = all.filter(endsAtFirst)
    const chosen = ending.length > 0 ? ending : all.slice(0, maxSettledOtherwise)
    const sorted = [...chosen].sort((a, b) => (a.effect < b.effect ? -1 : 1))
    const one = sorted.length === 1
    const rows =
      ending.length > 0
        ? await run(one ? statements.settleFirstOne : statements.settleFirst, settleFirstParameters(sorted))
        : await run(one ? statements.settleOne : statements.settle, settleParameters(sorted, time))
    onWritten()
    const moved = new Set(rows.filter((row) => row.moved).map((row) => sorted[row.n - 1]))
    const current = await this.#currentOf(chosen.filter((settlement) => !moved.has(settlement)))
    const asked = new Set(chosen)
    return all.map((settlement) => {
      if (!asked.has(settlement)) return undefined
      if (moved.has(settlement)) return { kind: 'settled', version: settlement.expectedVersion + 1 }
      return current instanceof Error ? current : notMoved(settlement, current.get(settlement.effect))
    })
  }

  /** A failure to read them is told to those who moved nothing, and to no one else: the others are committed. */
  async #currentOf(left: readonly Settlement[]): Promise<Map<string, EffectView> | Error> {
    if (left.length === 0) return new Map()
    try {
      return await this.#ports.reading.effects(left.map(({ effect }) => effect))
    } catch (error) {
      return error as Error
    }
  }
}
