import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask, Problem } from './ask.ts'

export interface Asked<Answer> {
  /** The newest answer; kept while the next one is awaited, and when that does not come. */
  readonly value: Answer | undefined
  readonly problem: Problem | undefined
  /** When `value` came. */
  readonly at: number | undefined
  readonly again: () => void
}

/**
 * Asks now and then again and again, but not while nobody looks: a hidden page asks nothing.
 *
 * @param path null asks nothing
 */
export function useAsked<Answer>(path: string | null, { everyMs = 4_000 } = {}): Asked<Answer> {
  const [answer, setAnswer] = useState<{ path: string; value: Answer; at: number }>()
  const [problem, setProblem] = useState<Problem>()
  const askNow = useRef(() => {})
  useEffect(() => {
    setProblem(undefined)
    if (path === null) return
    const ended = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const look = async (poll: boolean) => {
      clearTimeout(timer)
      try {
        const value = await ask<Answer>(path, { poll, signal: ended.signal })
        setAnswer({ path, value, at: Date.now() })
        setProblem(undefined)
      } catch (error) {
        if (ended.signal.aborted) return
        setProblem(error instanceof Problem ? error : new Problem(0, 'internal', String(error)))
      }
      clearTimeout(timer)
      if (!document.hidden && !ended.signal.aborted) timer = setTimeout(look, everyMs, true)
    }
    const seen = () => {
      if (!document.hidden) void look(true)
    }
    document.addEventListener('visibilitychange', seen)
    askNow.current = () => void look(false)
    void look(false)
    return () => {
      ended.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [path, everyMs])
  const isCurrent = answer?.path === path
  const again = useCallback(() => askNow.current(), [])
  return {
    value: isCurrent ? answer.value : undefined,
    at: isCurrent ? answer.at : undefined,
    problem,
    again,
  }
}
