import { randomUUID } from 'node:crypto'
import type { Body, Item } from './contender.ts'

/** An event of about 1 kB, the same for every contender. */
export function makeItem(): Item {
  const id = randomUUID()
  return { id, body: { id, amount: 4_200, currency: 'eur', lines } satisfies Body }
}

export function makeItems(count: number): Item[] {
  return Array.from({ length: count }, makeItem)
}

const lines = Array.from({ length: 10 }, (_, line) => ({
  line,
  description: `A thing that was bought, number ${line}, of some length`,
  amount: 1_200 + line,
}))
