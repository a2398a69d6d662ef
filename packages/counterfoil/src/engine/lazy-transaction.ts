import { CounterfoilError } from '../domain/index.ts'
import type { Plan, Planned, PlanSession, PlanTransaction, Store } from '../store/index.ts'

/** Begins a transaction at the first statement; waits for every statement, awaited by the trigger or not, before it commits. */
export function lazyTransaction(store: Store, timeoutMs: number) {
  let opening: Promise<PlanSession> | undefined
  let waiting = false
  let closed = false
  const started: Promise<unknown>[] = []
  const open = async () => {
    waiting = true
    try {
      return await store.beginPlan({ timeoutMs })
    } finally {
      waiting = false
    }
  }
  const run = <Result>(statement: (session: PlanSession) => Promise<Result>): Promise<Result> => {
    if (closed) {
      throw new CounterfoilError('transaction_closed', 'The plan of this transaction is over.', {
        hint: 'Await every statement inside plan().',
      })
    }
    opening ??= open()
    const result = opening.then(statement)
    started.push(result)
    result.catch(() => {})
    return result
  }
  const tx: PlanTransaction = {
    run: (sql, ...parameters) => run((session) => session.run(sql, ...parameters)),
    get: (sql, ...parameters) => run((session) => session.get(sql, ...parameters)),
    all: (sql, ...parameters) => run((session) => session.all(sql, ...parameters)),
  }
  return {
    tx,
    /** True while other plans hold the store: that time is not the trigger's. */
    waits: () => waiting,
    async commit(plan: Plan): Promise<Planned> {
      closed = true
      await Promise.all(started)
      return opening === undefined ? await store.plan(plan) : await (await opening).commit(plan)
    },
    async rollback(): Promise<void> {
      closed = true
      const session = await opening?.catch(() => undefined)
      await session?.rollback().catch(() => {})
    },
  }
}
