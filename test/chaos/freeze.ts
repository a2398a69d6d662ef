import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Stops processes where they are, and waits until no thread of them is at work in the kernel. */
export async function freeze(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGSTOP')
  for (let tries = 0; pids.some(isAtWork); tries++) {
    if (tries === 1_000) throw new Error('a process does not stop')
    await sleep(5)
  }
}

/** Ends processes and waits until they hold no file any more. */
export async function endAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGKILL')
  for (let tries = 0; pids.some((pid) => states(pid).some((state) => !'ZX'.includes(state))); tries++) {
    if (tries === 1_000) throw new Error('a process does not end')
    await sleep(5)
  }
}

export function signal(pid: number, which: NodeJS.Signals): void {
  try {
    process.kill(pid, which)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function isAtWork(pid: number): boolean {
  return states(pid).some((state) => !'TtZX'.includes(state))
}

/** Of every thread: `T` is stopped, `D` waits for the disk (proc(5)). */
function states(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
      return stat.slice(stat.lastIndexOf(')') + 2)[0]!
    })
  } catch {
    return []
  }
}
