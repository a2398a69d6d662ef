import { type EffectId, type Instant, type Limits, takesInTurn, type WorkerId } from '../domain/index.ts'
import type { DueWork } from '../store/index.ts'
import { attend, type EffectPorts, type EffectSettings, runAttempt } from './effects.ts'
import { describe } from './failure-text.ts'
import type { FirstPlaces } from './first-attempts.ts'
import { passes } from './patience.ts'
import { type Place, Places } from './places.ts'

/** A claim is a commit: it is made for half of a recipient's places, or after this pause for fewer. */
const portion = 0.5
const gatherMs = 5
/** A recipient of so many places gets half of them in one claim, so that the store claims while the others are worked on. */
const divided = 32

/**
 * Takes effects that are due, as many as each recipient has free places, and keeps their leases alive until
 * they are settled. A lease schedules and proves nothing: what it cannot keep becomes unknown.
 */
export class Dispatcher implements FirstPlaces {
  readonly worker: WorkerId
  readonly leaseMs: number
  readonly #ports: EffectPorts
  readonly #settings: EffectSettings
  readonly #inFlight = new Map<EffectId, number>()
  readonly #places = new Map<string, Places>()
  /** Recipients that may have more due than was taken, for want of places. */
  readonly #behind = new Set<string>()
  /** Recipients that asked to be left alone, and until when: nothing is sent to them and nothing asked of them. */
  readonly #quiet = new Map<string, Instant>()
  readonly #limits: Readonly<Record<string, Limits>>
  readonly #inTurn: readonly string[]
  readonly #abort = new AbortController()
  #taking = false
  #again = false
  #stopped = true
  #cancelRenewal: (() => void) | undefined
  #cancelGathering: (() => void) | undefined
  #idle: (() => void)[] = []

  constructor(ports: EffectPorts, settings: EffectSettings) {
    this.#ports = ports
    this.#settings = settings
    this.worker = settings.worker
    this.leaseMs = settings.leaseMs
    this.#meet()
    this.#inTurn = [...settings.recipients]
      .filter(([, { contract }]) => takesInTurn(contract))
      .map(([name]) => name)
    this.#limits = Object.fromEntries(
      [...settings.recipients].flatMap(([name, { limits }]) =>
        limits === undefined ? [] : [[name, limits]],
      ),
    )
  }

  start(): void {
    this.#stopped = false
  }

  /** Takes nothing more, waits up to `drainMs` for what is in flight, then cuts it off: that becomes unknown. */
  async stop(drainMs: number): Promise<void> {
    this.#stopped = true
    this.#endGathering()
    const drained =
      this.#inFlight.size === 0 && !this.#taking
        ? Promise.resolve()
        : new Promise<void>((resolve) => this.#idle.push(resolve))
    const cancel = this.#ports.clock.after(drainMs, () => this.#abort.abort())
    await drained
    cancel()
    this.#cancelRenewal?.()
    this.#cancelRenewal = undefined
  }

  /** A hint that effects are due: looks for them, soon when many are wanted at once and few places are free. */
  wake(recipients: Iterable<string> = this.#places.keys()): void {
    this.#meet()
    for (const name of recipients) this.#behind.add(name)
    this.#refill()
  }

  /**
   * A place for an effect that is about to be planned and begun at once. Null where an effect that waits goes first,
   * where the limits over all workers have to be counted by a claim, and where a claim finds whose turn it is.
   */
  reserve(recipient: string): Place | null {
    this.#meet()
    const places = this.#places.get(recipient)
    const isClaimed = this.#limits[recipient] !== undefined || this.#inTurn.includes(recipient)
    const waits = this.#behind.has(recipient) || isClaimed
    if (this.#stopped || waits || places === undefined || !this.#isCalled(recipient)) return null
    return places.free > 0 ? places.take() : null
  }

  /** Recipients come while the program runs, and none goes. */
  #meet(): void {
    const { recipients } = this.#settings
    if (recipients.size === this.#places.size) return
    for (const [name, { concurrency }] of recipients) {
      if (!this.#places.has(name)) this.#places.set(name, new Places(concurrency))
    }
  }

  /** Looks for due effects now: for the poll, which is the truth behind the hints. */
  async take(): Promise<void> {
    if (this.#taking) {
      this.#again = true
      return
    }
    if (this.#stopped) return
    this.#taking = true
    this.#again = false
    this.#endGathering()
    let taken: readonly (readonly [DueWork, Place])[] = []
    try {
      const wanted = this.#wanted()
      if (Object.keys(wanted).length === 0) return
      taken = await this.#takeFor(wanted)
      for (const [{ effect }] of taken) this.#count(effect.id, 1)
    } catch (error) {
      const level = passes(error) ? 'warn' : 'error'
      this.#ports.log(level, 'the store gave no due effects; it is asked again', { error: describe(error) })
      return
    } finally {
      this.#taking = false
      this.#wakeStop()
    }
    // The next claim is on its way while these are worked on. What was planned meanwhile found its places kept.
    const next = this.#again ? this.take() : this.#refill()
    for (const [work, place] of taken) void this.#work(work, place)
    await next
  }

  /** What the next claim asks for, by recipient. */
  #wanted(): Readonly<Record<string, number>> {
    for (const source of this.#settings.sources ?? []) source.freshen()
    this.#meet()
    const wanted: Record<string, number> = {}
    for (const [name, { free, all }] of this.#places) {
      const most = all < divided ? all : Math.ceil(all * portion)
      if (free > 0 && this.#isCalled(name)) wanted[name] = Math.min(free, most)
    }
    return wanted
  }

  /** Claims so many, and remembers of which recipients more may be due. Nothing of it is worked on yet. */
  async #takeFor(wanted: Readonly<Record<string, number>>): Promise<readonly (readonly [DueWork, Place])[]> {
    const unfilled = { ...wanted }
    // A hint that comes while the store answers is about what the answer may not have.
    for (const name of Object.keys(wanted)) this.#behind.delete(name)
    const taken = await this.#claim(wanted)
    for (const [{ effect }] of taken) unfilled[effect.recipient]!--
    for (const [name, left] of Object.entries(unfilled)) {
      if (left === 0) this.#behind.add(name)
      else if (left < wanted[name]!) this.#lookAgainAt(name)
      // A claim does not look into every domain; the next one goes on from there.
      if (left < wanted[name]! && this.#inTurn.includes(name)) this.#behind.add(name)
    }
    return taken
  }

  /** Keeps the places that it asks for until the store has answered: what is planned meanwhile finds none of them free. */
  async #claim(slots: Readonly<Record<string, number>>): Promise<(readonly [DueWork, Place])[]> {
    const wanted = Object.entries(slots)
    for (const [name, count] of wanted) this.#places.get(name)!.keep(count)
    const { worker, leaseMs } = this.#settings
    let taken: DueWork[]
    try {
      taken = await this.#ports.store.takeDue({
        worker,
        now: this.#ports.clock.now(),
        leaseMs,
        slots,
        limits: this.#limits,
        inTurn: this.#inTurn,
      })
    } finally {
      for (const [name, count] of wanted) this.#places.get(name)!.giveBack(count)
    }
    return taken.map((work) => [work, this.#places.get(work.effect.recipient)!.take()] as const)
  }

  /** Limits may have left some: there is room when an attempt of ours ends, or when the next token comes. */
  #lookAgainAt(name: string): void {
    const limits = this.#limits[name]
    if (limits === undefined) return
    this.#behind.add(name)
    if (limits.rate === null) return
    const tokenMs = Math.ceil(limits.rate.perMs / limits.rate.count)
    this.#settings.lookAgain(this.#ports.clock.now() + Math.max(gatherMs, tokenMs))
  }

  /** Takes for places that came free, if more may be due. One that is not called now is looked at by the poll. */
  #refill(): void {
    const behind = [...this.#behind].filter((name) => this.#isCalled(name))
    if (this.#stopped || behind.length === 0) return
    const isWorth = behind.some((name) => {
      const { free, all } = this.#places.get(name)!
      return free >= all * portion
    })
    if (isWorth) void this.take()
    else this.#cancelGathering ??= this.#ports.clock.after(gatherMs, () => void this.take())
  }

  #endGathering(): void {
    this.#cancelGathering?.()
    this.#cancelGathering = undefined
  }

  /** It is not switched off and has not asked to be left alone. */
  #isCalled(name: string): boolean {
    const recipient = this.#settings.recipients.get(name)
    if (recipient?.kind === 'http' && recipient.isOff?.() === true) return false
    return (this.#quiet.get(name) ?? 0) <= this.#ports.clock.now()
  }

  /** Works on what was taken, or on an attempt that its plan has begun. */
  run(work: DueWork, place: Place): void {
    this.#count(work.effect.id, 1)
    void this.#work(work, place)
  }

  async #work(work: DueWork, place: Place): Promise<void> {
    const { id, recipient } = work.effect
    const { signal } = this.#abort
    const onCallEnded = (quietMs: number | undefined) => {
      // First, or the place that comes free would be used at once.
      if (quietMs !== undefined) this.#quiet.set(recipient, this.#ports.clock.now() + quietMs)
      place.callEnded()
      this.#refill()
    }
    try {
      if (work.kind === 'attempt') await runAttempt(this.#ports, this.#settings, work, signal, onCallEnded)
      else await attend(this.#ports, this.#settings, work.effect, signal, onCallEnded)
    } catch (error) {
      this.#ports.log('error', 'an effect could not be worked on; its lease will end', {
        effect: id,
        error: describe(error),
      })
    } finally {
      place.leave()
      // The next one of its domain may be ready now.
      if (this.#inTurn.includes(recipient)) this.#behind.add(recipient)
      this.#count(id, -1)
      this.#wakeStop()
      this.#refill()
    }
  }

  /** An effect may be in work twice for a moment: begun again while the end of its last attempt is being noted. */
  #count(id: EffectId, by: 1 | -1): void {
    const works = (this.#inFlight.get(id) ?? 0) + by
    if (works === 0) this.#inFlight.delete(id)
    else this.#inFlight.set(id, works)
    if (this.#inFlight.size > 0 && this.#cancelRenewal === undefined) this.#scheduleRenewal()
  }

  /** Again and again while something is in flight; where nothing is, nothing wakes up. */
  #scheduleRenewal(): void {
    const { leaseMs, worker } = this.#settings
    this.#cancelRenewal = this.#ports.clock.after(Math.floor(leaseMs / 3), () => {
      const effects = [...this.#inFlight.keys()]
      if (effects.length === 0) {
        this.#cancelRenewal = undefined
        return
      }
      void this.#ports.store
        .renew({ worker, effects, now: this.#ports.clock.now(), leaseMs })
        .catch((error: unknown) => {
          this.#ports.log('warn', 'leases could not be renewed', { error: describe(error) })
        })
        .finally(() => {
          this.#cancelRenewal = undefined
          if (this.#inFlight.size > 0) this.#scheduleRenewal()
        })
    })
  }

  #wakeStop(): void {
    if (this.#inFlight.size > 0 || this.#taking) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
