import { readdirSync, readFileSync } from 'node:fs'

/** Of Linux on every platform that Node runs on: USER_HZ, 100 a second. */
const usPerTick = 10_000

/**
 * CPU that a server's processes have used so far, those that ended included, in µs. Undefined where there is no
 * /proc (proc_pid_stat(5): fields 4 ppid, 14 utime, 15 stime, 16 cutime, 17 cstime).
 */
export function serverCpuUs(postmaster: number): number | undefined {
  try {
    let ticks = 0
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue
      const fields = statOf(pid)
      if (fields === undefined) continue
      if (Number(pid) === postmaster) ticks += fields.own + fields.ended
      else if (fields.parent === postmaster) ticks += fields.own
    }
    return ticks * usPerTick
  } catch {
    return undefined
  }
}

function statOf(pid: string): { parent: number; own: number; ended: number } | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined // It ended meanwhile.
  }
  // The second field is a name in parentheses and may hold anything.
  const [, parent, ...rest] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [utime, stime, cutime, cstime] = rest.slice(9, 13)
  return { parent: parent!, own: utime! + stime!, ended: cutime! + cstime! }
}
