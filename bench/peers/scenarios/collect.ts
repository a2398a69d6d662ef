/**
 * The work itself, the same for every peer: what the page of each on retries asks of a job, that it be idempotent, in
 * the strongest way that the recipient allows. The key is the operation's name, so it stays the same over retries.
 */
import { type Event, operationOf, type Setting } from '../../scenarios/system.ts'

/** What a job returns, and with it what its record says. */
export type Result = 'acted' | 'acted before' | 'rejected as older'

/** @throws Error on anything else, so that the system tries again */
export async function collect(
  event: Event,
  { promises, recipient, poison, callTimeoutMs }: Setting,
  beforeCall: () => Promise<void>,
): Promise<Result> {
  if (event.type === 'invoice.broken') {
    if (poison === 'kills the process') process.kill(process.pid, 'SIGKILL')
    throw new Error('this event cannot be worked on')
  }
  const operation = operationOf(event)
  const { customer, amount, version } = event.data
  const signal = AbortSignal.timeout(callTimeoutMs)
  // Where it takes no key but can be asked: ask first, then act.
  if (promises.lookup && (await fetch(`${recipient}/operations/${operation}`, { signal })).ok)
    return 'acted before'
  await beforeCall()
  const answer = await fetch(`${recipient}/act`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': operation,
      'fence-domain': customer,
      'fence-version': String(version),
    },
    body: JSON.stringify({ operation, amount, version }),
    signal: AbortSignal.timeout(callTimeoutMs),
  })
  // The recipient holds a newer version: nothing is left to do.
  if (promises.fence && answer.status === 412) return 'rejected as older'
  if (!answer.ok) throw new Error(`the recipient answered ${answer.status}: ${await answer.text()}`)
  const { replayed } = (await answer.json()) as { replayed?: true }
  return replayed ? 'acted before' : 'acted'
}

/** Kinds of work that this program has code for: a queue, a task or a workflow each. */
export const kinds = ['collect', 'change-plan', 'break'] as const

const kindOfType: Readonly<Record<string, (typeof kinds)[number]>> = {
  'invoice.paid': 'collect',
  'payment.succeeded': 'collect',
  'plan.changed': 'change-plan',
  'invoice.broken': 'break',
}

/** What is asked for by an event; its own type where there is no code for it. */
export function kindOf({ type }: Event): string {
  return kindOfType[type] ?? type
}

export function isKnown(kind: string): boolean {
  return (kinds as readonly string[]).includes(kind)
}

/** What a job is named by. */
export function jobName(event: Event, { jobIs }: Setting): string {
  return jobIs === 'the event' ? event.id : operationOf(event)
}

/** What a finished job's result says of the outside world. */
export function saysOf(result: unknown): 'acted' | 'acted before' | 'set aside' {
  if (result === 'rejected as older') return 'set aside'
  return result === 'acted before' ? 'acted before' : 'acted'
}

export function tries(count: number): string {
  return count === 1 ? 'one try' : `${count} tries`
}
