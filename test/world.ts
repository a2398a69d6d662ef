import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Contract,
  type Counterfoil,
  type CounterfoilOptions,
  counterfoil,
  type Duration,
  type LimitOptions,
  type Network,
  producer,
  type Recipient,
  recipient,
  type Store,
  trigger,
} from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import {
  faultyStore,
  type History,
  mortalNetwork,
  SimulatedProcess,
  SimulatedRecipient,
  type SimulatedRecipientOptions,
  type StoreFault,
  seededRandom,
  VirtualClock,
  violations,
} from 'counterfoil/testing'
import { z } from 'zod'

const secret = Buffer.from('a secret that only tests know 123')
export const standard = producer(
  'standard',
  standardWebhooks({ secrets: `whsec_${secret.toString('base64')}` }),
)

/** The contract shapes that decide what may follow an unknown outcome. */
export const contracts = {
  idempotent: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'first-success',
    },
  },
  queryable: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'nothing',
    },
    lookup: { by: 'key', path: '/operations/{key}', absence: { final: true, after: '60s' } },
  },
  both: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'first-success',
    },
    lookup: { by: 'key', path: '/operations/{key}', absence: { final: true, after: '60s' } },
  },
  neither: {},
} as const satisfies Record<string, Contract>
export type Shape = keyof typeof contracts

export interface WorldOptions {
  readonly shape: Shape
  readonly network?: SimulatedRecipientOptions['fault']
  readonly seed?: number
  /** The recipient's time-out. Default `5s`. */
  readonly timeout?: Duration
  /** Of the recipient over all workers: its effects are begun by claim, not in the commit of their plan. */
  readonly limits?: LimitOptions
  /** How long a slow answer takes. */
  readonly slowMs?: number
  /** `sql`: the trigger writes a table of its own in the plan. `fails-once`, `fails`: it throws. Default `plain`. */
  readonly trigger?: 'plain' | 'sql' | 'fails-once' | 'fails'
  /** More of the configuration; it is asked at each start, as another deployment is. */
  readonly configure?: (seats: Recipient) => Partial<CounterfoilOptions>
  /** Where the records are instead of a file: handles on one and the same store, and its placeholder. */
  readonly database?: { readonly store: () => Store; readonly placeholder: string } | undefined
}

/**
 * The engine that ships on the real SQLite store in a directory of its own, or another store, with virtual time and
 * a simulated recipient. Processes start, die and start again on the same records.
 */
export class World {
  readonly clock = new VirtualClock()
  readonly recipient: SimulatedRecipient
  readonly #directory = mkdtempSync(join(tmpdir(), 'counterfoil-world-'))
  readonly #options: WorldOptions
  readonly #acknowledged = new Set<string>()
  #process = new SimulatedProcess()
  #app: Counterfoil | undefined
  #lives = 0
  #failures = 0

  constructor(options: WorldOptions) {
    worlds.add(this)
    this.#options = options
    const keyed = options.shape !== 'neither'
    this.recipient = new SimulatedRecipient({
      clock: this.clock,
      keyHeader: keyed ? 'Idempotency-Key' : null,
      lookupPath: 'lookup' in contracts[options.shape] ? '/operations/' : null,
      ...(options.network === undefined ? {} : { fault: options.network }),
      ...(options.slowMs === undefined ? {} : { slowMs: options.slowMs }),
    })
  }

  get app(): Counterfoil {
    if (this.#app === undefined) throw new Error('the process is not running')
    return this.#app
  }

  get process(): SimulatedProcess {
    return this.#process
  }

  /** Starts a process on the world's file. */
  async start(
    about: {
      readonly store?: StoreFault
      readonly dieAfterAnswers?: number
      readonly wrap?: (network: Network) => Network
    } = {},
  ): Promise<void> {
    const process = new SimulatedProcess()
    const network = mortalNetwork(this.recipient, process, about.dieAfterAnswers)
    const seats = recipient('seats', {
      url: 'http://seats.test',
      contract: contracts[this.#options.shape] as Contract,
      timeout: this.#options.timeout ?? '5s',
      ...(this.#options.limits === undefined ? {} : { limits: this.#options.limits }),
    })
    const openSeat = seats.effect('seat.open', {
      payload: z.object({ seat: z.string(), plan: z.string() }),
      request: (payload) => ({ method: 'PUT', path: `/seats/${payload.seat}`, body: payload }),
    })
    const paid = standard.event('invoice.paid', {
      schema: z.object({ id: z.string(), plan: z.string().default('pro') }),
    })
    this.#process = process
    this.#app = counterfoil({
      store: faultyStore(this.#store(), about.store ?? null, process),
      triggers: [
        trigger('open a seat when an invoice is paid', {
          on: paid,
          plan: ({ data }, { tx, effect }) => {
            const { trigger: mode = 'plain' } = this.#options
            if (mode === 'sql') {
              tx.run('create table if not exists seat (id text primary key, opened integer not null)')
              tx.run(
                `insert into seat values (${this.#placeholder}, 1) on conflict (id) do update set opened = seat.opened + 1`,
                data.id,
              )
            }
            if (mode === 'fails' || (mode === 'fails-once' && this.#failures++ === 0))
              throw new Error('planted')
            effect(openSeat, { key: `invoice/${data.id}/seat`, payload: { seat: data.id, plan: data.plan } })
          },
        }),
      ],
      recipients: [seats],
      clock: this.clock,
      random: seededRandom((this.#options.seed ?? 1) * 1_000 + this.#lives++),
      network: about.wrap === undefined ? network : about.wrap(network),
      // The hints do the work; a rarer poll is less to simulate.
      poll: '5s',
      log: () => {},
      ...this.#options.configure?.(seats as Recipient),
    })
    await this.#app.start()
  }

  /** Stops the process as a deployment does, letting time pass until it has drained. */
  async stop(): Promise<void> {
    let stopped = false
    const stopping = this.app.stop().then(() => {
      stopped = true
    })
    await this.run(60_000, () => stopped)
    await stopping
    this.#app = undefined
  }

  /** Kills the process; nothing of it is drained. The file stays. */
  async kill(): Promise<void> {
    this.#process.die()
    await this.#app?.store.close()
    this.#app = undefined
  }

  /** Delivers a signed event. Null when the process died before it answered. */
  async deliver(
    id: string,
    data: Record<string, unknown> = { id },
    type = 'invoice.paid',
  ): Promise<{ status: number; outcome: string | undefined } | null> {
    const body = JSON.stringify({
      type,
      timestamp: '2026-01-01T00:00:00Z',
      data,
    })
    const at = Math.floor(this.clock.now() / 1000)
    const signature = createHmac('sha256', secret).update(`msg_${id}.${at}.${body}`).digest('base64')
    const headers = {
      'content-type': 'application/json',
      'webhook-id': `msg_${id}`,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    }
    const request = new Request('http://counterfoil.test/in/standard', { method: 'POST', headers, body })
    const response = await Promise.race([this.app.receive(request), this.#process.died.then(() => null)])
    if (response === null) return null
    const answer = (await response.json()) as { receipt?: string; outcome?: string }
    if (response.ok && answer.receipt !== undefined) this.#acknowledged.add(answer.receipt)
    return { status: response.status, outcome: answer.outcome }
  }

  /** Lets time pass, waiting for real work of the store at every step, until `done` or for `ms` of virtual time. */
  async run(ms: number, done: () => boolean | Promise<boolean> = () => false): Promise<void> {
    const until = this.clock.now() + ms
    for (;;) {
      await this.#settled()
      if (!this.#process.alive || (await done())) return
      if (!this.clock.step(until)) {
        this.clock.jump(Math.max(0, until - this.clock.now()))
        return
      }
    }
  }

  /** Lets time pass until nothing more will happen by itself, for at most `ms`. */
  async settle(ms: number): Promise<void> {
    await this.run(ms, async () => {
      if (!this.#process.alive) return true
      const { outbox, effects } = await this.app.store.status()
      const { planned, attempting, unknown } = effects.byState
      return outbox.waiting + planned + attempting === 0 && unknown === effects.escalated
    })
  }

  /** How often the trigger's own statement was committed for this seat. */
  async opened(seat: string): Promise<number> {
    const session = await this.app.store.beginPlan({ timeoutMs: 5_000 })
    const row = await session.get(`select opened from seat where id = ${this.#placeholder}`, seat)
    await session.rollback()
    return Number(row?.opened ?? 0)
  }

  async violations(): Promise<string[]> {
    const history: History = {
      acknowledged: [...this.#acknowledged] as never,
      sent: this.recipient.sent.map(named),
      acts: this.recipient.acts.map(named),
      evidenceExists: this.#options.shape !== 'neither',
    }
    return await violations(this.app.store, history)
  }

  async dispose(): Promise<void> {
    await this.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #store(): Store {
    return this.#options.database?.store() ?? sqlite(join(this.#directory, 'counterfoil.db'))
  }

  get #placeholder(): string {
    return this.#options.database?.placeholder ?? '?'
  }

  /** Real work is over: the store answered everything and its answers were acted on. */
  async #settled(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await new Promise((resolve) => setImmediate(resolve))
      quiet = this.#process.pending === 0 ? quiet + 1 : 0
    }
  }
}

/** The effect that a request or an act belongs to, as the checker wants it. */
function named({ key, body }: { key: string | null; body: string }): { effect: string; body: string } {
  return { effect: key ?? `invoice/${JSON.parse(body).seat}/seat`, body }
}

const worlds = new Set<World>()

/** For `afterEach`: a failed test must not leave a thread behind that keeps the run alive. */
export async function disposeWorlds(): Promise<void> {
  for (const world of worlds) await world.dispose()
  worlds.clear()
}
