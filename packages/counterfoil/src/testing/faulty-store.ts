import { CounterfoilError } from '../domain/index.ts'
import type { PlanSession, Store } from '../store/index.ts'
import { SimulatedProcess } from './simulated-process.ts'

/** The store calls that commit something: a process may die before or after each. */
export const crashableCalls = [
  'accept',
  'acceptAll',
  'claimOutbox',
  'plan',
  'commit',
  'takeDue',
  'beginRepeat',
  'settle',
  'postponePlan',
  'quarantinePlan',
  'planAlert',
  'forget',
  'erase',
] as const
/** A call of the store around which a process can be made to crash. */
export type CrashableCall = (typeof crashableCalls)[number]

/** Where around a call of the store a process crashes. */
export type StoreFault =
  /** The process dies at this call. `before`: nothing of it was written; `after`: all of it was, and nobody was told. */
  | {
      readonly kind: 'crash'
      readonly call: CrashableCall
      readonly when: 'before' | 'after'
      readonly skip?: number
    }
  /** The call commits, or does not, and its caller is told that nobody knows. */
  | {
      readonly kind: 'commit-unknown'
      readonly call: CrashableCall
      readonly committed: boolean
      readonly skip?: number
    }

/** A store port with one planned fault, inside a process that may die of it. Everything else goes straight to the real store. */
export function faultyStore(real: Store, fault: StoreFault | null, process = new SimulatedProcess()): Store {
  let seen = 0
  const call = <Result>(name: string, perform: () => Promise<Result>): Promise<Result> =>
    process.guard(async () => {
      const hit = fault !== null && fault.call === name && seen++ === (fault.skip ?? 0)
      if (!hit) return await perform()
      process.struck = true
      if (fault.kind === 'crash') {
        if (fault.when === 'after') await perform()
        process.die()
      } else if (fault.committed) {
        await perform()
      }
      throw new CounterfoilError('commit_unknown', 'injected: the commit may or may not have happened')
    })

  return new Proxy(real, {
    get(target, property: keyof Store) {
      const member = target[property]
      if (typeof member !== 'function') return member
      if (property === 'open' || property === 'close' || property === 'watch') return member.bind(target)
      if (property === 'beginPlan') {
        return async (limits: { timeoutMs: number }) =>
          wrapSession(await call('beginPlan', () => target.beginPlan(limits)), call)
      }
      return (...parameters: unknown[]) =>
        call(property, () => (member as (...p: unknown[]) => Promise<unknown>).apply(target, parameters))
    },
  })
}

function wrapSession(
  session: PlanSession,
  call: <R>(name: string, perform: () => Promise<R>) => Promise<R>,
): PlanSession {
  return {
    run: (sql, ...parameters) => call('statement', () => session.run(sql, ...parameters)),
    get: (sql, ...parameters) => call('statement', () => session.get(sql, ...parameters)),
    all: (sql, ...parameters) => call('statement', () => session.all(sql, ...parameters)),
    commit: (plan) => call('commit', () => session.commit(plan)),
    rollback: () => call('rollback', () => session.rollback()),
  }
}
