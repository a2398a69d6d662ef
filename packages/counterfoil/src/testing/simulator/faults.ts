/** Every kind of fault, with the words in which a story tells it. */
export const faultKinds = {
  'crash before a store call': 'dies before the call is written',
  'crash after a store call': 'dies after the call is committed and before it is told so',
  crash: 'dies',
  pause: 'is paused',
  'pause before a store call': 'is paused before the call is written',
  'clock step': 'has its clock set',
  'clock skew': 'starts with a clock that is off',
  deploy: 'is replaced by the second version of the triggers',
  'all away': 'every process is away',
  'commit made, not told': 'the commit is made and its outcome is not known',
  'commit lost, not told': 'the commit is lost and its outcome is not known',
  'store busy': 'the store is held by somebody else',
  'disk full': 'the disk is full for this call',
  'slow store': 'the call waits for the store',
  'slow answer of the store': 'the call is committed and its answer comes late',
  'delivery lost': 'the delivery never arrives',
  'delivery late': 'the delivery arrives late',
  'acknowledgement lost': 'the answer to the delivery is lost',
  'delivery repeated': 'the producer sends the delivery again',
  'other body under an id': 'the producer sends another body under a known id',
  'other id for a body': 'a known body comes under another id',
  'forged delivery': 'somebody without the secret sends a delivery',
  'stale delivery': 'an old signed delivery is sent again',
  'broken delivery': 'a signed delivery is no JSON',
  'event of no type': 'an event comes that no trigger supports',
  'schema failure': 'an event comes that does not fit its schema',
  'trigger throws': 'the trigger throws',
  'connection refused': 'the connection is refused',
  'request lost': 'the request is lost',
  'request stalled': 'the request stalls and lands later',
  'request repeated': 'the network delivers the request twice',
  'answer lost': 'the recipient’s answer is lost',
  'answer late': 'the recipient’s answer comes after the time-out',
  'answer torn': 'the recipient’s answer is torn',
  'error before acting': 'the recipient answers 500 and does not act',
  'error after acting': 'the recipient acts and answers 500',
  'too many requests': 'the recipient answers 429 and asks to wait',
  'not let in': 'the recipient answers 401',
  'key in flight': 'the first request is still in work',
  'lookup lost': 'the lookup is lost',
  'lookup failed': 'the lookup is answered 500',
  'lookup lies': 'the lookup does not see the act, as its contract allows',
  'lookup slow': 'the lookup is answered late',
  'tombstone lost': 'the tombstone is placed and its answer lost',
  'tombstone failed': 'the tombstone is not placed and answered 500',
  'other payload under a key': 'somebody else sends another payload under a key that has acted',
  'operator decides': 'an operator decides on a quarantine entry or an effect',
  'operator decides on an old view': 'an operator decides on what it was before',
  'operator repeats a decision': 'an operator sends a decision again',
} as const

/** A kind of fault; `faultKinds` lists them. */
export type FaultKind = keyof typeof faultKinds

/** One fault that the simulator played. */
export interface Fault {
  /** Names the fault in its schedule: leave it out with `without`. */
  readonly id: string
  readonly kind: FaultKind
  /** True time, in milliseconds. */
  readonly at: number
  /** Whom or what it struck. */
  readonly about: string
}

/** The faults of one schedule as they strike. What is left out does not; what is drawn elsewhere stays the same. */
export class Faults {
  readonly struck: Fault[] = []
  readonly #without: ReadonlySet<string>
  readonly #now: () => number
  #over = false

  constructor(without: ReadonlySet<string>, now: () => number) {
    this.#without = without
    this.#now = now
  }

  get over(): boolean {
    return this.#over
  }

  end(): void {
    this.#over = true
  }

  /** @returns whether it strikes */
  strike(kind: FaultKind, id: string, about: string): boolean {
    if (this.#over || this.#without.has(id)) return false
    this.struck.push({ id, kind, at: this.#now(), about })
    return true
  }
}
