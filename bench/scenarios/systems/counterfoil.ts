/**
 * Counterfoil as its README has it: a Standard Webhooks producer, a trigger that plans one effect under the name of
 * the operation, and a recipient whose contract says what it promises. docs/contracts.md says what follows from it.
 */
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Contract,
  type Counterfoil,
  counterfoil,
  type Network,
  producer,
  recipient,
  trigger,
  undiciNetwork,
} from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'
import {
  type Event,
  operationOf,
  type Promises,
  type Setting,
  type System,
  type SystemRecord,
} from '../system.ts'

const secret = Buffer.alloc(32, 'scenarios')
const version = JSON.parse(
  readFileSync(new URL('../../../packages/counterfoil/package.json', import.meta.url), 'utf8'),
).version as string

export const system: System = {
  name: 'Counterfoil',
  about: `counterfoil ${version} on SQLite of Node ${process.versions.node}`,
  async place() {
    const at = mkdtempSync(join(tmpdir(), 'counterfoil-scenario-'))
    return { at, drop: async () => rmSync(at, { recursive: true }) }
  },
  async open(setting, at, _as, beforeCall) {
    const app = appOf(setting, at, beforeCall)
    await app.start()
    return {
      async deliver(event) {
        const response = await app.receive(signed(event))
        const { outcome, reason, code } = (await response.json()) as Record<string, string>
        return [response.status, outcome ?? code, reason].filter((word) => word !== undefined).join(' ')
      },
      records: () => recordsOf(app),
    }
  },
  async look(setting, at) {
    const app = appOf(setting, at, async () => {})
    await app.start({ work: false })
    const records = await recordsOf(app)
    await app.stop()
    return records
  },
}

function appOf(setting: Setting, at: string, beforeCall: () => Promise<void>): Counterfoil {
  const shop = producer('shop', standardWebhooks({ secrets: `whsec_${secret.toString('base64')}` }))
  const Data = z.object({
    invoice: z.string(),
    customer: z.string(),
    amount: z.number(),
    version: z.number(),
  })
  const request = (body: z.infer<typeof Act>) => ({ method: 'POST', path: '/act', body }) as const
  const far = {
    url: setting.recipient,
    allowPrivateAddresses: true,
    timeout: `${setting.callTimeoutMs}ms`,
    lookup: async ({ effectKey }: { effectKey: string }) => {
      const { ok } = await fetch(`${setting.recipient}/operations/${effectKey}`)
      return ok ? ('acted' as const) : ('absent' as const)
    },
  } as const
  const plain = recipient('bank', { ...far, contract: contractOf(setting.promises) })
  const collect = plain.effect('act', { payload: Act, request })
  const fenced = recipient('fenced-bank', { ...far, contract: { ...contractOf(setting.promises), ordering } })
  const change = fenced.effect('act', { payload: Act, request })
  const onType = (type: Event['type']) => shop.event(type, { schema: Data })

  return counterfoil({
    store: sqlite(join(at, 'counterfoil.db')),
    network: waiting(beforeCall),
    recipients: [plain, fenced],
    // The defaults are 10 s and 250 ms; a run should not take minutes.
    lease: `${setting.leaseMs}ms`,
    poll: '100ms',
    log: () => {},
    triggers: [
      trigger('collect what is due', {
        on: [onType('invoice.paid'), onType('payment.succeeded')],
        plan: ({ type, data }, { effect }) => {
          const operation = operationOf({ id: '', type: type as Event['type'], data })
          effect(collect, { key: operation, payload: { operation, amount: data.amount, version: 1 } })
        },
      }),
      trigger('change the plan', {
        on: onType('plan.changed'),
        plan: ({ data }, { effect }) => {
          const key = operationOf({ id: '', type: 'plan.changed', data })
          const payload = { operation: key, amount: data.amount, version: data.version }
          // Where the recipient compares no versions, `order` does not compile: see engine/trigger.types.test.ts.
          if (!setting.promises.fence) effect(collect, { key, payload })
          else effect(change, { key, payload, order: { domain: data.customer, version: data.version } })
        },
      }),
      trigger('break', {
        on: onType('invoice.broken'),
        plan: () => {
          if (setting.poison === 'kills the process') process.kill(process.pid, 'SIGKILL')
          throw new Error('this event cannot be planned')
        },
      }),
    ],
  })
}

const Act = z.object({ operation: z.string(), amount: z.number(), version: z.number() })
const ordering = {
  fence: { header: 'Fence-Version', domain: 'Fence-Domain', rejectedWith: 412 },
} as const

/** The recipient's promises as a contract. */
function contractOf({ keysMs, lookup }: Promises): Contract {
  return {
    ...(keysMs === null
      ? {}
      : {
          idempotency: {
            header: 'Idempotency-Key',
            remembersFor: keysMs === 'for ever' ? 'forever' : `${keysMs}ms`,
            otherPayload: 'refused',
            replays: 'first-success',
          },
        }),
    // "Not there" is never final here: this recipient does not bound how late a request may act.
    ...(lookup
      ? { lookup: { by: 'function', after: '200ms', findsFor: 'forever', absence: { final: false } } }
      : {}),
  }
}

/** The real network, with the place where a process is paused. */
function waiting(beforeCall: () => Promise<void>): Network {
  const real = undiciNetwork()
  return {
    async send(request, signal) {
      await beforeCall()
      return await real.send(request, signal)
    },
    close: () => real.close(),
  }
}

/** A delivery as its producer signs it; the body of each delivery of an event is the same. */
function signed({ id, type, data }: Event): Request {
  const at = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({ type, timestamp: '2026-12-01T00:00:00Z', data })
  const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  }
  return new Request('http://shop.test/in/shop', { method: 'POST', headers, body })
}

/** What `counterfoil effects show` and `counterfoil quarantine show` print, in short. */
async function recordsOf(app: Counterfoil): Promise<SystemRecord[]> {
  const [effects, quarantine] = await Promise.all([
    app.store.listEffects({ limit: 500 }),
    app.store.listQuarantine({ limit: 500 }),
  ])
  const { outbox } = await app.store.status()
  const records: SystemRecord[] = []
  if (outbox.waiting > 0) {
    const waiting = await app.store.listReceipts({ limit: 500, state: 'accepted' })
    const holds = JSON.stringify(waiting)
    records.push({ says: 'open', words: `${outbox.waiting} waiting in the outbox`, holds })
  }
  for (const { state, dueAt, attempts, evidence, id, key } of effects) {
    const [story] = await app.store.showEffects(id)
    const how = evidence.map(({ kind, to }) => `${kind} → ${to}`)
    const tries = attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`
    // It asks now and then until its owner decides: what it will do within seconds is still open.
    const soon = dueAt !== null && dueAt - Date.now() < 3_000
    const over = state === 'unknown' && !soon
    records.push({
      says: state === 'confirmed' ? 'acted' : over ? 'unknown' : isOpen(state) ? 'open' : 'failed',
      words: [`effect ${state}`, tries, ...new Set(how)].join(', '),
      holds: `${key} ${JSON.stringify(story?.causes)}`,
    })
  }
  for (const { receipt, reason, type, state } of quarantine.entries) {
    const story = await app.store.showReceipt(receipt)
    const payload = story === null ? null : await app.readPayload(story.receipt)
    const holds = `${JSON.stringify(story?.receipt)} ${payload === null ? '' : Buffer.from(payload)}`
    records.push({ says: 'set aside', words: `${type} in quarantine (${reason}), ${state}`, holds })
  }
  return records
}

function isOpen(state: string): boolean {
  return state === 'planned' || state === 'attempting' || state === 'unknown'
}
