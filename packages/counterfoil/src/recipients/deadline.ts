import type { Clock } from '../domain/index.ts'

/** What `within` rejects with when time is up. */
export const late = Symbol('late')

/**
 * Waits for a function of the user's, with a deadline that holds whether or not it heeds its signal.
 *
 * @returns what it gave. Rejects with what it threw, or with `late` at the deadline or when `stop` is aborted.
 */
export async function within<Result>(
  clock: Clock,
  ms: number,
  stop: AbortSignal,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController()
  return await new Promise<Result>((resolve, reject) => {
    const end = () => {
      abort.abort()
      reject(late)
    }
    const cancel = clock.after(ms, end)
    if (stop.aborted) end()
    else stop.addEventListener('abort', end, { once: true })
    call(abort.signal)
      .then(resolve, reject)
      .finally(() => {
        cancel()
        stop.removeEventListener('abort', end)
      })
  })
}
