const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `stop` when the signal is aborted. All that wait for one signal share one listener of it: hundreds of calls
 * in flight, each with its own, would be searched through whenever one of them ends.
 *
 * @returns takes it back
 */
export function whenAborted(signal: AbortSignal, stop: () => void): () => void {
  let all = waiting.get(signal)
  if (all === undefined) {
    const those = new Set<() => void>()
    signal.addEventListener('abort', () => {
      for (const one of those) one()
    })
    waiting.set(signal, those)
    all = those
  }
  all.add(stop)
  return () => all.delete(stop)
}
