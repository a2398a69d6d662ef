import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from '../../packages/counterfoil/src/store/postgres/fixtures/server.ts'

/** The postmaster and every process that it has begun. */
export function processesOf(server: Server): number[] {
  const { pid } = server
  if (pid === undefined) return []
  return [pid, ...childrenOf(pid)]
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').map(Number).filter(Boolean)
}

/** Starts it again; for as long as processes of its last life are left, it refuses. */
export async function runAgain(server: Server): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await server.run()
    } catch (error) {
      if (tries === 50) throw error
      await sleep(100)
    }
  }
}

/** Waits until it answers, and starts it where it has ended. */
export async function answersAgain(server: Server): Promise<void> {
  for (let tries = 0; ; tries++) {
    if (server.pid === undefined) return await runAgain(server)
    if (await server.answers()) return
    if (tries === 600) throw new Error('the server does not answer')
    await sleep(50)
  }
}
