import type { Counterfoil } from '../../counterfoil.ts'
import { fitSchema, takesOrder } from '../../domain/index.ts'
import type { Trigger } from '../../engine/index.ts'
import type { EventType } from '../../intake/index.ts'
import type { Finding } from './finding.ts'
import { type Circumstances, type Declaration, later, type Probed, probe } from './probe.ts'
import { noRows } from './user-config.ts'
import type { UserEvent } from './user-scenario.ts'

/** What one trigger declares of one event: now, and when everything but the event is another. */
interface Planned {
  readonly trigger: Trigger
  readonly event: UserEvent
  readonly declarations: readonly Declaration[]
}

const first = { receipt: 'rcp_a', receivedAt: Date.UTC(2026, 0, 1) }
const another = { receipt: 'rcp_b', receivedAt: Date.UTC(2026, 5, 1) }

/** Runs every trigger on every event and looks at what it declares: the faults that need no time to show. */
export async function findInPlans(app: Counterfoil<any>, events: readonly UserEvent[]): Promise<Finding[]> {
  const findings: Finding[] = []
  const planned: Planned[] = []
  for (const trigger of app.triggers) {
    for (const [n, event] of events.entries()) {
      const type = typeOf(trigger, event)
      if (type === undefined) continue
      const data = await fit(type, event)
      const run = (about: Circumstances) => probe(trigger, event, data, about, noRows)
      const once = await run({ ...first, id: `event-${n}` })
      if (once === null) continue
      if (once.kind === 'threw') {
        findings.push(throws(trigger, event, once.error))
        continue
      }
      planned.push({ trigger, event, declarations: once.declarations })
      const found = changed(
        trigger,
        once.declarations,
        await later(400, () => run({ ...first, id: `event-${n}` })),
      )
      if (found !== null) findings.push(found)
      else
        findings.push(
          ...tooFine(trigger, once.declarations, await run({ ...another, id: `event-${n}-again` })),
        )
    }
  }
  return distinct([...findings, ...tooCoarse(planned), ...order(app, planned)])
}

function typeOf({ on }: Trigger, { producer, type, version }: UserEvent): EventType | undefined {
  return (on as readonly EventType[]).find(
    (one) =>
      one.producer.name === producer &&
      one.type === type &&
      (one.version === undefined || one.version === version),
  )
}

async function fit({ schema }: EventType, { data }: UserEvent): Promise<unknown> {
  if (schema === undefined) return data
  const fitted = await fitSchema(schema, data)
  return fitted.ok ? fitted.value : data
}

function throws({ name }: Trigger, { type }: UserEvent, error: string): Finding {
  return {
    kind: 'trigger-fails',
    where: `trigger '${name}'`,
    says: `it throws on an event of '${type}': ${error.slice(0, 200)}`,
    change:
      'Such an event ends in quarantine. Narrow the schema or `when`, or plan nothing for it. If it needs rows of your own tables, that is no mistake: the simulation has none.',
  }
}

/** The same event, planned again as a crash makes the engine do, and 400 days later. */
function changed(trigger: Trigger, before: readonly Declaration[], again: Probed | null): Finding | null {
  if (again?.kind !== 'declared') return null
  const texts = (list: readonly Declaration[]) => list.map((one) => JSON.stringify(one)).sort()
  const [one, other] = [texts(before), texts(again.declarations)]
  if (one.join('\n') === other.join('\n')) return null
  const at = one.findIndex((text, index) => text !== other[index])
  return {
    kind: 'not-deterministic',
    where: `trigger '${trigger.name}'`,
    says: `the same event was planned twice, and it declared ${short(one[at])} the first time and ${short(other[at])} the second`,
    change:
      'Take what varies from the event (its own time, its own id of the thing) instead of the clock, chance or a counter: a plan may run again after a crash.',
  }
}

/** The same thing, reported again as another event: its operation is the same one. */
function tooFine({ name }: Trigger, before: readonly Declaration[], again: Probed | null): Finding[] {
  if (again?.kind !== 'declared') return []
  return before.flatMap((one, index) => {
    const other = again.declarations[index]
    if (other === undefined || other.key === one.key || other.recipient !== one.recipient) return []
    return [
      {
        kind: 'key-too-fine' as const,
        where: `trigger '${name}'`,
        says: `two events that say the same plan '${one.effect}' at '${one.recipient}' under two keys, ${one.key} and ${other.key}: the operation would be carried out twice`,
        change:
          'Name the operation in the key by what it is about and its revision. The id of the event, its receipt and its time belong to the delivery.',
      },
    ]
  })
}

/** Two events whose payloads meet under one key: the second ends in quarantine. */
function tooCoarse(planned: readonly Planned[]): Finding[] {
  const seen = new Map<string, { declaration: Declaration; event: UserEvent }>()
  const findings: Finding[] = []
  for (const { event, declarations } of planned) {
    for (const declaration of declarations) {
      const identity = `${declaration.recipient} ${declaration.key}`
      const known = seen.get(identity)
      if (known === undefined) seen.set(identity, { declaration, event })
      else if (known.declaration.payload !== declaration.payload) {
        const members = differences(known.declaration.payload, declaration.payload)
        findings.push({
          kind: 'key-too-coarse',
          where: `trigger '${declaration.trigger}'`,
          says: `two events of '${event.type}' plan '${declaration.effect}' at '${declaration.recipient}' under the one key ${declaration.key} with payloads that differ in ${members}: the second is an effect conflict and goes to quarantine`,
          change: `If they are two operations, put what tells them apart (${members}, or a revision) into the key. If they are one, leave it out of the payload.`,
        })
      }
    }
  }
  return findings
}

/** Places in an order: only where the recipient compares them, and rising from event to event. */
function order(app: Counterfoil<any>, planned: readonly Planned[]): Finding[] {
  const findings: Finding[] = []
  const newest = new Map<string, { declaration: Declaration; event: UserEvent }>()
  for (const { event, declarations } of planned) {
    for (const declaration of declarations) {
      const { order: place, recipient, effect, trigger } = declaration
      if (place === null) continue
      const where = `trigger '${trigger}'`
      const known = app.recipients.get(recipient)
      if (known !== undefined && !takesOrder(known.contract)) {
        findings.push({
          kind: 'order-cannot-hold',
          where,
          says: `it claims order for '${effect}', and recipient '${recipient}' compares no versions: the plan is refused as order_without_fence`,
          change:
            'State in the contract how the recipient rejects an older version (ordering.fence), or drop the order.',
        })
        continue
      }
      const held = newest.get(`${recipient} ${place.domain}`)
      const rises = held === undefined || place.version > held.declaration.order!.version
      const isSame = held?.declaration.key === declaration.key
      if (Number.isSafeInteger(place.version) && (rises || isSame)) {
        if (rises) newest.set(`${recipient} ${place.domain}`, { declaration, event })
        continue
      }
      findings.push({
        kind: 'order-cannot-hold',
        where,
        says: Number.isSafeInteger(place.version)
          ? `a later event of '${event.type}' gives '${effect}' the version ${place.version} in ${place.domain}, where an earlier one gave ${held!.declaration.order!.version}: whichever arrives second is rejected, and it may be the newer`
          : `it gives '${effect}' the version ${place.version} in ${place.domain}, which is no whole number`,
        change:
          'Take the version from something that the producer raises with every change of the domain: a sequence or a revision of the record.',
      })
    }
  }
  return findings
}

function differences(one: string, other: string): string {
  const [a, b] = [JSON.parse(one), JSON.parse(other)]
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return 'their value'
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  const differing = names.filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]))
  return differing.map((name) => `'${name}'`).join(' and ')
}

/** One finding of a kind and place is enough to act on. */
function distinct(findings: readonly Finding[]): Finding[] {
  const kept = new Map<string, Finding>()
  for (const finding of findings) {
    const name = `${finding.kind} ${finding.where} ${finding.kind === 'trigger-fails' ? '' : finding.says.split("'")[1]}`
    if (!kept.has(name)) kept.set(name, finding)
  }
  return [...kept.values()]
}

function short(text: string | undefined): string {
  if (text === undefined) return 'nothing'
  const { effect, recipient, key, payload } = JSON.parse(text) as Declaration
  return `'${effect}' at '${recipient}' under ${key} with ${payload.slice(0, 120)}`
}
