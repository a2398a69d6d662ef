import {
  type Clock,
  type Instant,
  type Log,
  type Random,
  type Tracing,
  timeOrderedId,
  type WorkerId,
} from '../domain/index.ts'
import type { Network, Recipient } from '../recipients/index.ts'
import type { Store, Transactions, Vault } from '../store/index.ts'
import type { AlertSettings } from './alert.ts'
import { Dispatcher } from './dispatcher.ts'
import { type OpenEvent, Relay } from './relay.ts'
import { Retainer, type RetainerSettings } from './retainer.ts'
import type { Trigger } from './trigger.ts'
import { Unattended, type UnattendedSettings } from './unattended.ts'

export interface EnginePorts {
  readonly store: Store
  readonly vault: Vault
  readonly network: Network
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly tracing: Tracing
}

export interface EngineSettings extends AlertSettings {
  readonly triggers: readonly Trigger[]
  readonly recipients: ReadonlyMap<string, Recipient>
  readonly ownerOf: (producer: string, type: string) => string
  readonly owner: string
  readonly plannedBy: string
  readonly openEvent: OpenEvent
  /** Null: what nobody attends to raises no further alert. */
  readonly unattended: UnattendedSettings | null
  /** Null: retention is applied by operators alone. */
  readonly retainer: RetainerSettings | null
  readonly leaseMs: number
  readonly planTimeoutMs: number
  readonly transactions?: Transactions<any> | undefined
  readonly pollMs: number
  readonly drainMs: number
}

export interface Engine {
  readonly worker: WorkerId
  readonly relay: Relay
  start(): void
  /** Drains: takes nothing more, waits for what is in flight up to `drainMs`. */
  stop(): Promise<void>
}

/** Relay, planner, attempts and reconciler over one store. Hints make it fast; the poll makes it true. */
export function createEngine(ports: EnginePorts, settings: EngineSettings): Engine {
  const { clock } = ports
  const worker = timeOrderedId<WorkerId>('wrk', clock.now(), ports.random.bytes(10))
  let running = false
  let cancelPoll = () => {}
  let unwatch: (() => void) | undefined
  let nextLook: { at: Instant; cancel: () => void } | undefined

  const wake = () => dispatcher.wake()
  const lookAgain = (at: Instant) => {
    if (!running || (nextLook !== undefined && nextLook.at <= at)) return
    nextLook?.cancel()
    const cancel = clock.after(Math.max(0, at - clock.now()), () => {
      nextLook = undefined
      wake()
    })
    nextLook = { at, cancel }
  }
  const dispatcher = new Dispatcher(ports, { ...settings, worker, lookAgain })
  const relay = new Relay(ports, {
    ...settings,
    worker,
    onPlanned: (recipients) => dispatcher.wake(recipients),
    firstPlaces: dispatcher,
  })
  const unattended = settings.unattended === null ? null : new Unattended(ports, settings.unattended)
  const retainer = settings.retainer === null ? null : new Retainer(ports, settings.retainer)
  const look = () => {
    void relay.poll()
    wake()
  }
  const poll = () => {
    cancelPoll = clock.after(settings.pollMs, () => {
      void relay.poll()
      void dispatcher.take()
      if (running) poll()
    })
  }

  return {
    worker,
    relay,
    start() {
      if (running) return
      running = true
      relay.start()
      dispatcher.start()
      unattended?.start()
      retainer?.start()
      unwatch = ports.store.watch?.(look)
      look()
      poll()
    },
    async stop() {
      if (!running) return
      running = false
      cancelPoll()
      unwatch?.()
      nextLook?.cancel()
      await unattended?.stop()
      await retainer?.stop()
      await relay.stop()
      await dispatcher.stop(settings.drainMs)
    },
  }
}
