/**
 * One process of a system: `node worker.ts ORDER`, the order as JSON. It is asked over its channel, and may be paused
 * or killed at any time.
 */

import type { Event, Opened, Setting } from './system.ts'
import { systemNamed } from './systems.ts'

export interface Order {
  readonly system: string
  readonly setting: Setting
  /** Where the records lie. */
  readonly at: string
  readonly as: string
  /** Waits before its first call of the recipient until it is told to go on. */
  readonly waits: boolean
}

export type Question =
  | { readonly ask: 'deliver'; readonly event: Event }
  | { readonly ask: 'records' | 'afterDeath' | 'leaseEnds' | 'forget' }

export type Said =
  | { readonly kind: 'ready' | 'about to call' }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string }

const order = JSON.parse(process.argv[2] ?? '') as Order
const goesOn = Promise.withResolvers<void>()
let waits = order.waits

const system = await systemNamed(order.system)
const opened = await system.open(order.setting, order.at, order.as, async () => {
  if (!waits) return
  waits = false
  say({ kind: 'about to call' })
  await goesOn.promise
})

process.on('message', (message: 'go on' | (Question & { readonly id: number })) => {
  if (message === 'go on') goesOn.resolve()
  else void reply(message)
})
process.on('disconnect', () => process.exit())
say({ kind: 'ready' })

async function reply(question: Question & { readonly id: number }): Promise<void> {
  const { id } = question
  try {
    say({ kind: 'answer', id, value: await ask(opened, question) })
  } catch (error) {
    say({ kind: 'answer', id, error: String(error) })
  }
}

function ask(system: Opened, question: Question): unknown {
  return question.ask === 'deliver' ? system.deliver(question.event) : system[question.ask]?.()
}

function say(said: Said): void {
  process.send?.(said)
}
