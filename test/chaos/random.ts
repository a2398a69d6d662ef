import type { Random } from 'counterfoil'

export function pick<const Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random.fraction() * items.length)]!
}

/** A whole number of milliseconds, from `least` to less than `most`. */
export function between(random: Random, least: number, most: number): number {
  return Math.floor(least + (most - least) * random.fraction())
}

export function chance(random: Random, share: number): boolean {
  return random.fraction() < share
}
