import type { ParseArgsOptionsConfig } from 'node:util'
import type { Counterfoil } from '../counterfoil.ts'

/** Exit codes, the same for every command (design.md section 5). */
export const exit = { done: 0, problem: 1, badUse: 2 } as const

export interface Invocation {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  /** Loads the configuration, once. */
  readonly app: () => Promise<Counterfoil>
  readonly out: Output
}

/** `strong`: a heading. `good`, `warning`, `bad`: how something is. `quiet`: an aside. */
export type Style = 'strong' | 'good' | 'warning' | 'bad' | 'quiet'

export interface Output {
  /** The one documented shape of `--json`; printed only then. */
  json(value: unknown): void
  /** For people; silent under `--json`. A style is seen on a terminal only. */
  line(text?: string, style?: Style): void
  /** How far a long work is: on a terminal alone, in one line that is written over. @param of null: nobody knows */
  progress(done: number, of: number | null): void
}

export interface Command {
  /** As typed: `receipts list`. */
  readonly name: string
  readonly summary: string
  readonly usage: string
  readonly example: string
  readonly options?: ParseArgsOptionsConfig & Readonly<Record<string, { readonly help?: string }>>
  run(invocation: Invocation): Promise<number>
}
