/**
 * How the workshop may go wrong, on request. `lose`: it acts, and its answer never comes. `late`: it acts, and
 * answers after the caller has given up. `fail`: it acts, and answers 500. `drop`: it does not act, and does not
 * answer. From outside, all four look alike.
 */
export const faultNames = ['lose', 'late', 'fail', 'drop'] as const
export type Fault = (typeof faultNames)[number]

const mostAtOnce = 10_000

/** How many of the next acting requests go wrong, and how; and how many did. */
export class Faults {
  readonly #next: Record<Fault, number> = { lose: 0, late: 0, fail: 0, drop: 0 }
  readonly #happened: Record<Fault, number> = { lose: 0, late: 0, fail: 0, drop: 0 }

  /** @returns what is wrong with the request, or undefined when it was taken */
  set(asked: unknown): string | undefined {
    if (typeof asked !== 'object' || asked === null) return 'Send a JSON object, such as {"lose": 2}.'
    for (const [name, count] of Object.entries(asked)) {
      if (!isFault(name)) return `'${name}' is none of ${faultNames.join(', ')}.`
      if (!Number.isInteger(count) || count < 0 || count > mostAtOnce)
        return `'${name}' is not a whole number from 0 to ${mostAtOnce}.`
    }
    Object.assign(this.#next, asked)
    return undefined
  }

  /** For a request that is about to act. */
  take(): Fault | undefined {
    const fault = faultNames.find((name) => this.#next[name] > 0)
    if (fault === undefined) return undefined
    this.#next[fault]--
    this.#happened[fault]++
    return fault
  }

  get next(): Readonly<Record<Fault, number>> {
    return this.#next
  }

  get happened(): Readonly<Record<Fault, number>> {
    return this.#happened
  }
}

function isFault(name: string): name is Fault {
  return (faultNames as readonly string[]).includes(name)
}
