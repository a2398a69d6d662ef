import { createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Counterfoil,
  type CounterfoilOptions,
  counterfoil,
  producer,
  recipient,
  trigger,
} from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { type NetworkFault, SimulatedRecipient } from 'counterfoil/testing'
import { z } from 'zod'
import { type ServeOptions, type Server, serve } from '../../packages/counterfoil/src/server/index.ts'

const root = join(import.meta.dirname, '../..')
const secret = Buffer.from('a secret that only tests know 123')
export const secretText = `whsec_${secret.toString('base64')}`

export const tokens = {
  vera: 'the token of vera the viewer',
  olga: 'the token of olga the operator',
  abe: 'the token of abe the approver',
}

const roles = { vera: 'viewer', olga: 'operator', abe: 'approver' } as const
const operators = {
  COUNTERFOIL_OPERATORS: Object.entries(roles)
    .map(([name, role]) => `${name}:${role}:${tokens[name as keyof typeof tokens]}`)
    .join(','),
}

const payments = producer('payments', standardWebhooks({ secrets: secretText }))

const keyed = {
  header: 'Idempotency-Key',
  remembersFor: '24h',
  otherPayload: 'refused',
  replays: 'first-success',
} as const

/** Short, so that a lost answer is one soon. */
const timeout = '300ms'

const billing = recipient('billing', {
  url: 'https://billing.test',
  timeout,
  contract: { idempotency: keyed },
})
const letters = recipient('letters', { url: 'https://letters.test', timeout, contract: {} })
const seats = recipient('seats', {
  url: 'https://seats.test',
  timeout,
  contract: {
    idempotency: { ...keyed, replays: 'nothing' },
    lookup: { by: 'key', path: '/operations/{key}', absence: { final: false } },
    ordering: {
      fence: { header: 'Fence-Version', rejectedWith: 412 },
      tombstone: { method: 'PUT', path: '/tombstones/{key}', answers: [{ status: 409, means: 'acted' }] },
    },
  },
})

const collect = billing.effect('invoice.collect', {
  payload: z.object({ invoice: z.string(), amount: z.number() }),
  request: (payload) => ({ method: 'POST', path: '/collections', body: payload }),
})
const sendLetter = letters.effect('letter.send', {
  payload: z.object({ to: z.string() }),
  request: (payload) => ({ method: 'POST', path: '/letters', body: payload }),
})
const openSeat = seats.effect('seat.open', {
  payload: z.object({ seat: z.string() }),
  request: (payload) => ({
    method: 'PUT',
    path: `/seats/${encodeURIComponent(payload.seat)}`,
    body: payload,
  }),
})

const due = payments.event('invoice.due', { schema: z.object({ id: z.string(), amount: z.number() }) })
const reminded = payments.event('invoice.reminded', { schema: z.object({ to: z.string() }) })
const ordered = payments.event('seat.ordered', { schema: z.object({ id: z.string() }) })
const moved = payments.event('seat.moved', { schema: z.object({ id: z.string() }) })

export interface ConsoleWorldOptions {
  readonly serve?: ServeOptions
  readonly configure?: Partial<CounterfoilOptions>
}

/** A server with the console as it is built now, on records of its own, with recipients that tests can make fail. */
export class ConsoleWorld {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'counterfoil-console-'))
  /** What happens to the next requests that hold a text, and to how many. */
  readonly faults = new Map<string, { readonly fault: NetworkFault; times: number }>()
  readonly recipients: SimulatedRecipient
  readonly lines: string[] = []
  /** What the program does not handle yet. */
  #deployed = false
  app: Counterfoil
  server!: Server
  readonly #options: ConsoleWorldOptions

  constructor(options: ConsoleWorldOptions = {}) {
    this.#options = options
    const clock = {
      now: () => Date.now(),
      after: (ms: number, then: () => void) => cancelled(setTimeout(then, ms)),
    }
    this.recipients = new SimulatedRecipient({
      clock,
      keyHeader: 'Idempotency-Key',
      lookupPath: '/operations/',
      tombstonePath: '/tombstones/',
      fault: ({ body }) => this.#faultOf(Buffer.from(body ?? []).toString()),
      slowMs: 200,
    })
    this.app = this.#configured()
  }

  get url(): string {
    return this.server.url
  }

  async start(): Promise<this> {
    checkBuild()
    this.server = await serve(this.app, {
      port: 0,
      env: operators,
      ...this.#options.serve,
    })
    return this
  }

  /** The next version of the program, which handles what waits in quarantine. */
  async deploy(): Promise<void> {
    const { port } = new URL(this.url)
    await this.server.stop()
    this.#deployed = true
    this.app = this.#configured()
    this.server = await serve(this.app, { ...this.#options.serve, port: Number(port), env: operators })
  }

  /** The next requests that hold this text meet this fault. */
  fail(text: string, fault: NetworkFault, times = 1): void {
    this.faults.set(text, { fault, times })
  }

  async deliver(
    id: string,
    type: string,
    data: unknown,
  ): Promise<{ outcome: string; receipt: string; quarantine?: string }> {
    const body = JSON.stringify({ type, timestamp: '2026-01-01T00:00:00Z', data })
    const at = Math.floor(Date.now() / 1000)
    const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64')
    const response = await fetch(`${this.url}/in/payments`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(at),
        'webhook-signature': `v1,${signature}`,
      },
      body,
    })
    if (!response.ok) throw new Error(`${id} was refused: ${await response.text()}`)
    return (await response.json()) as { outcome: string; receipt: string; quarantine?: string }
  }

  async api<Answer = any>(path: string, body?: object, who: keyof typeof tokens = 'abe'): Promise<Answer> {
    const response = await fetch(`${this.url}/api/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokens[who]}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Answer
  }

  /** Asks until it holds, for half a minute. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (let looks = 0; looks < 600; looks++) {
      if (await holds()) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`in half a minute it never came to this: ${what}`)
  }

  async dispose(): Promise<void> {
    await this.server?.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }

  #faultOf(body: string): NetworkFault {
    for (const [text, planned] of this.faults) {
      if (!body.includes(text) || planned.times === 0) continue
      planned.times--
      return planned.fault
    }
    return 'none'
  }

  #configured(): Counterfoil {
    const triggers = [
      trigger('collect an invoice that is due', {
        on: due,
        plan: ({ data }, { effect }) =>
          effect(collect, {
            key: `invoice/${data.id}/collect/revision/1`,
            payload: { invoice: data.id, amount: data.amount },
          }),
      }),
      trigger('send a reminder', {
        on: reminded,
        plan: ({ data }, { effect }) =>
          effect(sendLetter, { key: `letter/${data.to}`, payload: { to: data.to } }),
      }),
      trigger('open a seat that was moved', {
        on: moved,
        plan: ({ data }, { effect }) =>
          effect(openSeat, { key: `seat/${data.id}`, payload: { seat: data.id } }),
      }),
      ...(this.#deployed
        ? [
            trigger('open a seat that was ordered', {
              on: ordered,
              plan: ({ data }, { effect }) =>
                effect(openSeat, { key: `seat/${data.id}`, payload: { seat: data.id } }),
            }),
          ]
        : []),
    ]
    return counterfoil({
      store: sqlite(join(this.directory, 'counterfoil.db')),
      producers: [payments],
      recipients: [billing, letters, seats],
      triggers,
      network: this.recipients,
      version: this.#deployed ? '2' : '1',
      poll: '50ms',
      log: (...line) => void this.lines.push(JSON.stringify(line)),
      ...this.#options.configure,
    })
  }
}

function cancelled(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer)
}

/** What is tested is what is there now: `npm test` builds the console before it begins. */
function checkBuild(): void {
  const built = join(root, 'packages/counterfoil/dist/console/index.html')
  const files = ['src', 'style'].flatMap((folder) => {
    const names = readdirSync(join(root, 'console', folder), { recursive: true, encoding: 'utf8' })
    return names.map((name) => statSync(join(root, 'console', folder, name)).mtimeMs)
  })
  if (existsSync(built) && statSync(built).mtimeMs >= Math.max(...files)) return
  throw new Error('The console was not built since it changed: npm run build:console')
}
