import type { Counterfoil } from '../../counterfoil.ts'
import type { Contract, JsonValue } from '../../domain/index.ts'
import type { PlanContext, Trigger } from '../../engine/index.ts'
import type { Producer, ProducerKind } from '../../intake/index.ts'
import { type EffectDefinition, type Recipient, recipient } from '../../recipients/index.ts'

/** An event as the simulator sends it: what the producer's own form would say, in one object. */
export interface Envelope {
  readonly id: string
  readonly type: string
  readonly version: string | null
  readonly data: JsonValue
}

/** The recipients and triggers of a configuration with nothing behind them that leads outside. */
export interface SimulatedConfig {
  readonly triggers: readonly Trigger[]
  readonly recipients: readonly Recipient[]
}

/**
 * A user's own configuration for the simulation: its triggers as they are; recipients that keep the same promises over a plain
 * protocol, so that none of their functions is called; and a transaction without rows.
 */
export function simulatedConfig(app: Counterfoil<any>): SimulatedConfig {
  const recipients = new Map<string, Recipient>()
  for (const [name, real] of app.recipients) {
    const about = { url: `http://${hostOf(name)}`, contract: plainContract(real.contract) }
    recipients.set(name, {
      ...recipient(name, { ...about, timeout: real.timeoutMs, concurrency: real.concurrency }),
      ...(real.limits === undefined ? {} : { limits: real.limits }),
    } as Recipient)
  }
  const triggers = app.triggers.map((real) => ({
    ...real,
    in: undefined,
    plan: (event, { effect }: PlanContext) =>
      real.plan(event, {
        tx: noRows,
        effect: ((definition: EffectDefinition<any, any>, plan: { key: string; payload: unknown }) =>
          effect(plainDefinition(recipients, definition, plan.key) as never, plan)) as never,
      }),
  })) satisfies Trigger[]
  return { triggers, recipients: [...recipients.values()] }
}

/** The host of a simulated recipient: a name that a URL holds. */
export function hostOf(name: string): string {
  return `${Buffer.from(name).toString('hex')}.test`
}

/** The request that the user's own function makes, in the body of a plain one that names its operation. */
function plainDefinition(
  recipients: ReadonlyMap<string, Recipient>,
  definition: EffectDefinition<any, any>,
  op: string,
): EffectDefinition<any, any> {
  const known = recipients.get(definition.recipient.name)
  // Not configured: the engine is to say so.
  if (known === undefined) return definition
  const conditional = known.contract.ordering?.conditional !== undefined
  return {
    ...definition,
    recipient: known,
    request: (payload) => ({
      method: 'POST',
      path: `/acts/${encodeURIComponent(op)}`,
      ...(conditional ? { headers: { 'if-match': 'v1' } } : {}),
      body: { op, request: readable(definition.request(payload)) },
    }),
  }
}

/** What the stored bytes would be, as far as JSON can hold it. */
function readable(request: unknown): unknown {
  return JSON.parse(
    JSON.stringify(request ?? null, (_, value) => (value instanceof Uint8Array ? [...value] : value)),
  )
}

/** The same promises; where their headers, paths and answers stand does not matter to them. */
export function plainContract({ idempotency, lookup, ordering }: Contract): Contract {
  const { fence, conditional, tombstone } = ordering ?? {}
  const { remembersFor = 'unstated', otherPayload = 'unstated', replays = 'unstated' } = idempotency ?? {}
  const plainOrdering = {
    ...(fence === undefined
      ? {}
      : { fence: { header: 'Fence-Version', domain: 'Fence-Domain', rejectedWith: 412 } }),
    ...(conditional === undefined ? {} : { conditional: { header: 'If-Match', rejectedWith: 412 } }),
    ...(tombstone === undefined || idempotency === undefined
      ? {}
      : {
          tombstone: {
            method: 'PUT' as const,
            path: '/closed/{key}',
            answers: [{ status: 409, means: 'acted' as const }],
            ...(tombstone.findsFor === undefined ? {} : { findsFor: tombstone.findsFor }),
          },
        }),
  }
  return {
    ...(idempotency === undefined
      ? {}
      : { idempotency: { header: 'Idempotency-Key', remembersFor, otherPayload, replays } }),
    // What has no key can be asked for by nothing that the simulation knows.
    ...(lookup === undefined || idempotency === undefined
      ? {}
      : {
          lookup: {
            by: 'key' as const,
            path: '/acts/{key}',
            absence: lookup.absence,
            ...(lookup.after === undefined ? {} : { after: lookup.after }),
            ...(lookup.findsFor === undefined ? {} : { findsFor: lookup.findsFor }),
          },
        }),
    ...(Object.keys(plainOrdering).length === 0 ? {} : { ordering: plainOrdering as never }),
  }
}

/** Reads envelopes in place of a producer's own form, which nobody here could sign. */
export function envelopeKind({ kind }: Producer): ProducerKind {
  const { methods: _, form: __, keyHosts: ___, handshake: ____, read: _____, events: ______, ...rest } = kind
  return {
    ...rest,
    signsUrl: false,
    contentTypes: ['application/json'],
    maxBytes: Math.max(kind.maxBytes, 1_048_576),
    verify: () => ({ kind: 'verified' }),
    facts: (payload) => {
      const { id = null, type = null, version = null } = (payload ?? {}) as unknown as Partial<Envelope>
      return { id, source: 'simulated', type, version, at: null }
    },
    data: (payload) => (payload as unknown as Envelope).data,
  }
}

/** In place of a transaction: statements find no row and change none, whatever client they are written for. */
export const noRows: any = new Proxy(() => {}, {
  get: (_, name) => {
    if (name === 'then') return (done: (rows: unknown) => void) => done([])
    if (name === 'get' || name === 'executeTakeFirst') return async () => undefined
    if (name === 'run') return async () => ({ changes: 0 })
    if (name === Symbol.iterator) return undefined
    return noRows
  },
  apply: () => noRows,
})
