import { type Clock, codeOf, type Log } from '../domain/index.ts'

const firstMs = 50
const lastMs = 5_000

/** Failures of the store that pass: the same call is right again later. */
export function passes(error: unknown): boolean {
  const code = codeOf(error)
  return (
    code === 'store_unavailable' ||
    code === 'store_busy' ||
    code === 'store_full' ||
    code === 'commit_unknown' ||
    code === 'overloaded'
  )
}

/**
 * Makes one idempotent or compare-and-set call to the store until it gets an answer. Gives up, by throwing,
 * only on what waiting cannot mend.
 */
export async function patiently<Result>(
  ports: { readonly clock: Clock; readonly log: Log },
  what: string,
  call: () => Promise<Result>,
): Promise<Result> {
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 2, lastMs)) {
    try {
      return await call()
    } catch (error) {
      if (!passes(error)) throw error
      ports.log('warn', `the store did not take a '${what}'; it is tried again`, {
        code: codeOf(error),
        waitMs,
      })
      await pause(ports.clock, waitMs)
    }
  }
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve))
}
