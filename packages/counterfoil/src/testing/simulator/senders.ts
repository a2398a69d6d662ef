import type { Draws } from './draws.ts'
import type { FaultKind, Faults } from './faults.ts'
import type { Entry, PlannedDelivery } from './history.ts'
import type { Ready } from './running.ts'
import type { Scenario } from './scenario.ts'
import type { Timeline } from './timeline.ts'
import type { Workbench } from './workbench.ts'

/** How long a producer waits for an answer. */
const patienceMs = 15_000

export interface SendersWorld {
  readonly timeline: Timeline
  readonly draws: Draws
  readonly faults: Faults
  readonly bench: Workbench
  readonly fleet: Ready
  record(entry: Entry): void
  readonly requestOf: Scenario['requestOf']
}

/** The producers of one schedule: each sends its delivery until it is told that it was taken, or that it never will be. */
export class Senders {
  readonly #world: SendersWorld
  /** Tries that wait for their time. */
  readonly #waiting = new Set<() => void>()
  #open = 0

  constructor(world: SendersWorld) {
    this.#world = world
  }

  get areDone(): boolean {
    return this.#open === 0
  }

  send(delivery: PlannedDelivery): void {
    this.#open++
    this.#world.timeline.after(delivery.at, null, () => {
      const kind = faultOf(delivery)
      const about = `delivery ${delivery.index}`
      // What the schedule leaves out is not sent at all.
      if (kind !== null && !this.#world.faults.strike(kind, `delivery/${delivery.index}`, about)) this.#open--
      else this.#try(delivery, 1)
    })
  }

  /** Faults are over: what waits for another try is sent now. */
  calm(): void {
    for (const go of [...this.#waiting]) go()
  }

  #try(delivery: PlannedDelivery, nth: number): void {
    const { timeline, draws, fleet, record, bench } = this.#world
    const { index } = delivery
    const id = `delivery/${index}/${nth}`
    const again = () => {
      const go = () => {
        cancel()
        if (this.#waiting.delete(go)) this.#try(delivery, nth + 1)
      }
      const cancel = timeline.after(Math.min(1_000 * 2 ** nth, 3_600_000), null, go)
      this.#waiting.add(go)
    }
    const ready = fleet.ready()
    const to = ready[draws.below(ready.length, 'sender', index, nth)]
    if (to === undefined || this.#strikes(0.06, 'delivery lost', id, nth)) {
      again()
      return
    }
    const late = this.#strikes(0.1, 'delivery late', `${id}/late`, nth)
      ? draws.below(9_000, 'sender', index, nth + 200)
      : 0
    let over = false
    const end = (told: 'taken' | 'refused' | 'again') => {
      if (over) return
      over = true
      if (told === 'again') again()
      else this.#open--
    }
    timeline.after(patienceMs, null, () => end('again'))
    timeline.after(late, null, () => {
      if (!to.life.alive) return
      record({ at: timeline.now, kind: 'delivered', delivery: index, process: to.life.process, try: nth })
      void to.app.receiveIncoming(this.#world.requestOf(delivery, timeline.now)).then(async (response) => {
        if (!to.life.alive) return
        const text = await response.text()
        const { outcome = null, receipt = null } = readAnswer(text)
        const committed = receipt === null || bench.isCommitted(receipt)
        const { status } = response
        record({
          at: timeline.now,
          kind: 'acknowledged',
          delivery: index,
          status,
          outcome,
          receipt,
          committed,
          text,
        })
        if (this.#strikes(0.08, 'acknowledgement lost', `${id}/ack`, nth + 500)) return
        const passes = status === 429 || status >= 500 || status === 408
        end(status < 300 ? 'taken' : passes ? 'again' : 'refused')
      })
    })
  }

  #strikes(share: number, kind: FaultKind, id: string, nth: number): boolean {
    const { draws, faults } = this.#world
    if (faults.over) return false
    const [, index] = id.split('/')
    const topic =
      { 'delivery lost': 1, 'delivery late': 2, 'acknowledgement lost': 3 }[kind as 'delivery lost'] ?? 0
    return (
      draws.chance(share, 'sender', Number(index) + 1_000 * topic, nth) &&
      faults.strike(kind, id, `delivery ${index}`)
    )
  }
}

function faultOf({ variant, type, body }: PlannedDelivery): FaultKind | null {
  switch (variant) {
    case 'copy':
      return 'delivery repeated'
    case 'altered':
      return 'other body under an id'
    case 'readdressed':
      return 'other id for a body'
    case 'forged':
      return 'forged delivery'
    case 'stale':
      return 'stale delivery'
    case 'broken':
      return 'broken delivery'
    case 'plain':
      if (type === 'order.unheard') return 'event of no type'
      return body.includes('"amount":"much"') ? 'schema failure' : null
  }
}

function readAnswer(text: string): { outcome?: string | null; receipt?: string | null } {
  try {
    return JSON.parse(text) as { outcome?: string; receipt?: string }
  } catch {
    return {}
  }
}
