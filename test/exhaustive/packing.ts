import { Parts } from './parts.ts'
import type { Scene } from './scene.ts'
import { effectKey, farKey, type State, type Worker, wireKey, workerKey } from './state.ts'
import { momentsOf } from './timeline.ts'

/** Words of 32 bits that a state is packed into. */
export const width = 4

const rowBits = 26
const eventPlaces = ['waiting', 'planned', 'quarantined'] as const

/**
 * States as four words: the time, the place of each event, and the numbers of their parts. Who of the two workers is which
 * does not matter, as both run the same program: the one with the lower number comes first.
 */
export class Packing {
  readonly #moments
  readonly #effects
  readonly #rows = new Parts(effectKey, rowBits)
  readonly #workers = new Parts<Worker>(workerKey, 16)
  readonly #wires = new Parts(wireKey, 16)
  readonly #fars = new Parts(farKey, 16)
  /** Of the state that was packed last. */
  readonly words = new Uint32Array(width)
  /** The workers of the state that was packed last changed places. */
  swapped = false

  constructor({ shape, events }: Scene) {
    this.#moments = momentsOf(shape.contract)
    this.#effects = events === 'ordered' ? 2 : 1
  }

  /** @param from the packed state that a move led from: most parts are its */
  pack({ now, events, effects, workers, wire, far }: State, from: Uint32Array): void {
    const { words } = this
    const [one, other] = workers
    const [first, second] = events
    const a = this.#workers.numberOf(one, from[2]! & 0xffff)
    const b = this.#workers.numberOf(other, from[2]! >>> 16)
    this.swapped = a > b
    words[0] =
      this.#rows.numberOf(effects[0]!, from[0]! & (2 ** rowBits - 1)) |
      (this.#moments.indexOf(now) << rowBits)
    const row = this.#effects === 2 ? this.#rows.numberOf(effects[1]!, from[1]! & (2 ** rowBits - 1)) : 0
    words[1] = row | ((eventPlaces.indexOf(first!) * 3 + eventPlaces.indexOf(second!)) << rowBits)
    words[2] = this.swapped ? b | (a << 16) : a | (b << 16)
    words[3] =
      this.#wires.numberOf(wire, from[3]! & 0xffff) | (this.#fars.numberOf(far, from[3]! >>> 16) << 16)
  }

  unpack(words: Uint32Array): State {
    const row = (place: 0 | 1) => this.#rows.at(words[place]! & (2 ** rowBits - 1))
    const places = words[1]! >>> rowBits
    return {
      now: this.#moments[words[0]! >>> rowBits]!,
      events: [eventPlaces[Math.floor(places / 3)]!, eventPlaces[places % 3]!],
      effects: this.#effects === 2 ? [row(0), row(1)] : [row(0)],
      workers: [this.#workers.at(words[2]! & 0xffff), this.#workers.at(words[2]! >>> 16)],
      wire: this.#wires.at(words[3]! & 0xffff),
      far: this.#fars.at(words[3]! >>> 16),
    }
  }

  /** How many different parts there are, for those who wonder what a space is made of. */
  get sizes(): Readonly<Record<string, number>> {
    return {
      rows: this.#rows.size,
      workers: this.#workers.size,
      wires: this.#wires.size,
      fars: this.#fars.size,
    }
  }
}
