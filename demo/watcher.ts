import { setTimeout as pause } from 'node:timers/promises'
import type { Effect, Ledger } from './ledger.ts'
import { faint, good, open, say } from './say.ts'
import { acts } from './workshop-client.ts'

const lookEveryMs = 100
const patienceMs = 90_000

interface Line {
  readonly id: string
  readonly at: number
  readonly text: string
}

/**
 * Tells the stories of effects whose outcome was not known for a while, line by line as the ledger learns them.
 * It reads what is written there, so nothing is missed between two looks.
 */
export class Watcher {
  readonly #ledger: Ledger
  readonly #workshop: string
  readonly #told = new Set<string>()

  constructor(ledger: Ledger, workshop: string) {
    this.#ledger = ledger
    this.#workshop = workshop
  }

  /** Watches until nothing is planned, attempting or unknown any more. @throws Error after 90 seconds */
  async untilQuiet(): Promise<void> {
    const deadline = Date.now() + patienceMs
    for (;;) {
      // Asked before the look, so that the look sees how the last one ended.
      const left = await this.#ledger.open()
      await this.#look()
      if (left === 0) return
      if (Date.now() > deadline) {
        throw new Error(
          `${left} records are still open after ${patienceMs / 1000} s. See: npm run -s counterfoil -- unknown list`,
        )
      }
      await pause(lookEveryMs)
    }
  }

  async #look(): Promise<void> {
    const effects = (await this.#ledger.effects()).filter(wasUnknown)
    const isNew = effects.some((effect) => storyOf(effect, 0).some(({ id }) => !this.#told.has(id)))
    if (!isNew) return
    const { byReference } = await acts(this.#workshop)
    const lines = effects
      .flatMap((effect) => storyOf(effect, byReference[effect.key] ?? 0))
      .filter(({ id }) => !this.#told.has(id))
    for (const { id, text } of lines.sort((a, b) => a.at - b.at)) {
      this.#told.add(id)
      say(text)
    }
  }
}

export function wasUnknown(effect: Effect): boolean {
  return effect.attempts.some(({ outcome }) => outcome === 'unknown')
}

function storyOf(effect: Effect, actsNow: number): Line[] {
  const begun = effect.attempts[0]?.begunAt ?? effect.plannedAt
  const line = (id: string, at: number, what: string, why: string): Line => {
    const after = `+${((at - begun) / 1000).toFixed(2)} s`.padStart(9)
    return { id: `${effect.id} ${id}`, at, text: `${after}  ${what} ${shortKey(effect.key)}  ${faint(why)}` }
  }
  const confirmed = `→ confirmed; acts at the recipient: ${actsNow}`
  const attempts = effect.attempts.flatMap(({ number, outcome, endedAt, why }) => {
    if (outcome === null || endedAt === null) return []
    const id = `attempt ${number} ${outcome}`
    if (outcome === 'unknown') return [line(id, endedAt, open('unknown  '), why ?? '')]
    if (outcome === 'confirmed')
      return [line(id, endedAt, good('repeat   '), `same key, same bytes: ${why} ${confirmed}`)]
    return [line(id, endedAt, open(outcome.padEnd(9)), why ?? '')]
  })
  const evidence = effect.evidence.map(({ at, kind, from, to, why }, index) => {
    const id = `evidence ${index}`
    if (to === 'confirmed' && from !== to) {
      const found = kind === 'lookup' ? 'the recipient had acted' : why
      return line(id, at, good(kind.padEnd(9)), `${found} ${confirmed}`)
    }
    if (kind === 'lookup' && to === 'unknown') {
      return line(id, at, open('lookup   '), 'not there yet, which proves nothing → stays unknown')
    }
    return line(id, at, open(kind.padEnd(9)), `${why}; ${from === to ? `stays ${to}` : `→ ${to}`}`)
  })
  return [...attempts, ...evidence]
}

/** Without the producer and the repository, which all of them share. */
export function shortKey(key: string): string {
  return key.replace(/^github\/[^/]+\/[^/]+\//, '')
}
