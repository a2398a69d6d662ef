import { CounterfoilError, codeOf } from '../domain/index.ts'
import type { Plan, Planned, Store, Transactions } from '../store/index.ts'
import { describe } from './failure-text.ts'
import { lazyTransaction } from './lazy-transaction.ts'

/**
 * Runs the triggers of one event in a transaction.
 *
 * @param tx what the triggers get
 * @param waits true while other plans hold the store: that time is not the triggers'
 */
export type WritePlan = (tx: unknown, waits: () => boolean) => Promise<Plan>

/** In the store's own transaction, which is begun at the first statement of a trigger, if there is one. */
export async function planInStore(store: Store, timeoutMs: number, write: WritePlan): Promise<Planned> {
  const transaction = lazyTransaction(store, timeoutMs)
  try {
    return await transaction.commit(await write(transaction.tx, transaction.waits))
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}

/** Tries of a plan that others were faster than each time, before the record is put back. */
const maxOvertaken = 20

/**
 * In a transaction of the program's own client, which the plan's statements join. Two that create one effect at
 * the same time meet in the database: the second finds it when it plans again.
 */
export async function planInClient(
  store: Store,
  transactions: Transactions<unknown>,
  timeoutMs: number,
  write: WritePlan,
): Promise<Planned> {
  for (let tries = 1; ; tries++) {
    try {
      return await planOnce(store, transactions, timeoutMs, write)
    } catch (error) {
      if (!transactions.isOvertaken(error)) throw error
      if (tries === maxOvertaken) throw overtaken(transactions.client, error)
    }
  }
}

async function planOnce(
  store: Store,
  transactions: Transactions<unknown>,
  timeoutMs: number,
  write: WritePlan,
): Promise<Planned> {
  let stage: 'begins' | 'works' | 'commits' = 'begins'
  let undone: { plan: Plan; planned: Planned } | undefined
  try {
    return await transactions.run(
      async (tx) => {
        stage = 'works'
        undone = undefined
        const plan = await write(tx, () => false)
        const planned = await store.planIn(await transactions.executor(tx), plan)
        undone = planned.kind === 'planned' ? undefined : { plan, planned }
        if (undone !== undefined) throw new Undo()
        stage = 'commits'
        return planned
      },
      { timeoutMs },
    )
  } catch (error) {
    if (undone !== undefined) return await notPlanned(store, undone)
    throw told(error, stage, transactions.client)
  }
}

/** Makes the client roll back what the triggers wrote. */
class Undo extends Error {}

async function notPlanned(
  store: Store,
  { plan, planned }: { plan: Plan; planned: Planned },
): Promise<Planned> {
  if (planned.kind !== 'conflict') return planned
  const { outbox, receipt, at, onConflict } = plan
  const { recipient, key, planned: fingerprint, existing } = planned
  const detail = { recipient, key, planned: fingerprint, existing }
  const quarantine = { ...onConflict, reason: 'effect-conflict' as const, detail }
  await store.quarantinePlan({ outbox, receipt, quarantine, at })
  return planned
}

function overtaken(client: string, error: unknown): CounterfoilError {
  return new CounterfoilError('store_busy', `Others were faster ${maxOvertaken} times: ${describe(error)}`, {
    hint: `Many plans of one effect at once, or a long transaction of ${client} on rows that triggers write.`,
    cause: error,
  })
}

/** What the client says outside the triggers' own work is not their fault, and passes: the record is handed on again. */
function told(error: unknown, stage: 'begins' | 'works' | 'commits', client: string): unknown {
  if (stage === 'works' || codeOf(error) !== undefined) return error
  return stage === 'begins'
    ? new CounterfoilError('store_unavailable', `${client} began no transaction: ${describe(error)}`, {
        cause: error,
      })
    : new CounterfoilError('commit_unknown', `${client} did not commit for sure: ${describe(error)}`, {
        cause: error,
      })
}
