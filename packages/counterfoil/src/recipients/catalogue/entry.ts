import type { Contract } from '../../domain/index.ts'

/** A vendor's contract, with what it rests on. Use `contract` as it is, or spread it and state what you know better. */
export interface CatalogueEntry<C extends Contract = Contract> {
  readonly vendor: string
  readonly contract: C
  readonly about: {
    /** The calls that it speaks of. */
    readonly covers: string
    /** The vendor's own pages, where it has any. */
    readonly sources: readonly [string, ...string[]]
    /** When the sources were read. */
    readonly checked: `${number}-${number}-${number}`
    /** What the contract assumes and no source above was seen to say. */
    readonly unconfirmed: readonly string[]
    /** What no contract can make safe here. */
    readonly notSafe: readonly [string, ...string[]]
  }
}

/** Keeps the exact type of a contract, so that effects know whether they may claim order. */
export function entry<const C extends Contract>(vendor: CatalogueEntry<C>): CatalogueEntry<C> {
  return vendor
}
