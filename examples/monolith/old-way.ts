import { setTimeout as pause } from 'node:timers/promises'

/** What the monolith did so far: a time-out is a failure, and a failure is tried again. */
export async function chargeTheOldWay(bank: string, order: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await fetch(`${bank}/charges`, {
        method: 'POST',
        body: JSON.stringify({ order }),
        signal: AbortSignal.timeout(300),
      })
      if (answer.ok) return
      throw new Error(`the bank answered ${answer.status}`)
    } catch (error) {
      if (tries === 3) throw error
      await pause(50)
    }
  }
}
