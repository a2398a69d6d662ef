import { type Counterfoil, counterfoil } from '../../counterfoil.ts'
import type { Contract } from '../../domain/index.ts'
import { trigger } from '../../engine/index.ts'
import { producer } from '../../intake/index.ts'
import { github, standardWebhooks } from '../../intake/producers/index.ts'
import { type EffectDefinition, type Recipient, recipient } from '../../recipients/index.ts'
import type { Store } from '../../store/index.ts'
import { type EventName, eventTypes, type OrderData, opOf, type Part, parts } from './workload.ts'

export const secrets = {
  std: Buffer.from('a secret that only the simulator knows'),
  hub: 'another secret that only the simulator knows',
  bearer: 'bearer-token-that-nobody-may-see',
}

const std = producer('std', standardWebhooks({ secrets: `whsec_${secrets.std.toString('base64')}` }))
const hub = producer('hub', github({ secrets: secrets.hub }))
const producers = { std, hub }

/** Fits the data of every event; hand-written, because it is asked a million times. */
const orderData = {
  '~standard': {
    version: 1,
    vendor: 'counterfoil',
    validate(value: unknown) {
      const data = value as OrderData
      return typeof data.amount === 'number'
        ? { value: data }
        : { issues: [{ message: 'expected a number', path: ['amount'] }] }
    },
  },
} as const

const anything = {
  '~standard': { version: 1, vendor: 'counterfoil', validate: (value: unknown) => ({ value }) },
} as const

interface Payload {
  readonly op: string
  readonly amount: number
}

/** How long work is leased for. */
export const leaseMs = 10_000

/** What a schedule may do to its triggers. */
export interface TriggerHooks {
  /** Throws where a trigger that sometimes fails is to fail now. */
  readonly flaky: (order: number) => void
}

/**
 * The configuration of a schedule. Nothing of it is used as it is: each process takes it with ports of its own.
 *
 * @param version 2 plans more and supports more than 1
 */
export function fleetConfig(
  contracts: Readonly<Record<Part, Contract>>,
  version: 1 | 2,
  hooks: TriggerHooks,
): Counterfoil {
  const at = Object.fromEntries(parts.map((part) => [part, endOf(part, contracts[part])])) as Record<
    Part,
    End
  >
  const names = (Object.keys(eventTypes) as EventName[]).filter(
    (name) => name !== 'unheard' && (name !== 'cancelled' || version === 2),
  )
  const triggers = names.map((name) => {
    const { producer: from, type, plans } = eventTypes[name]
    return trigger<OrderData>(name, {
      on: producers[from].event(type, { schema: orderData as never }) as never,
      async plan({ data }, { tx, effect }) {
        if (name === 'poison') throw new Error('planted')
        if (name === 'flaky') hooks.flaky(data.order)
        for (const { part, op: pattern } of plans) {
          if (part === 'later' && version === 1) continue
          const op = opOf(pattern, data)
          if (name === 'written') {
            await tx.run(
              'insert into written (op, times) values (?, 1) on conflict (op) do update set times = times + 1',
              op,
            )
          }
          const ordered = contracts[part].ordering?.fence !== undefined && pattern.includes('V')
          effect(at[part].definition, {
            key: op,
            payload: { op, amount: data.amount },
            ...(ordered ? { order: { domain: `order/${data.order}`, version: data.version } } : {}),
          })
        }
      },
    })
  })
  return counterfoil({
    store: nowhere,
    producers: [std, hub],
    triggers,
    recipients: parts.map((part) => at[part].recipient),
    version: `v${version}`,
    lease: `${leaseMs / 1_000}s`,
  })
}

/** A recipient, and what is done there. */
interface End {
  readonly recipient: Recipient
  readonly definition: EffectDefinition<Payload, true>
}

/** By contract and part: schedules share the contracts of the shapes, and to check one costs more than to play with it. */
const ends = new WeakMap<Contract, Map<Part, End>>()

function endOf(part: Part, contract: Contract): End {
  const known = ends.get(contract) ?? new Map<Part, End>()
  ends.set(contract, known)
  let end = known.get(part)
  if (end === undefined) {
    const made: Recipient = recipient(part, {
      url: `http://${part}.test`,
      contract,
      timeout: '5s',
      headers: () => ({ authorization: `Bearer ${secrets.bearer}` }),
    })
    end = { recipient: made, definition: definitionAt(made) }
    known.set(part, end)
  }
  return end
}

function definitionAt(at: Recipient): EffectDefinition<Payload, true> {
  const conditional = at.contract.ordering?.conditional !== undefined
  const definition: unknown = at.effect('act', {
    payload: anything as never,
    request: (payload: Payload) => ({
      method: 'POST',
      path: `/acts/${payload.op}`,
      body: payload,
      ...(conditional ? { headers: { 'if-match': 'v1' } } : {}),
    }),
  })
  return definition as EffectDefinition<Payload, true>
}

/** In place of a store until a process brings one. */
const nowhere = { kind: 'none', location: 'nowhere' } as unknown as Store
