/** A mistake in a configuration, in words. */
export interface Finding {
  readonly kind:
    | 'not-deterministic'
    | 'key-too-coarse'
    | 'key-too-fine'
    | 'order-cannot-hold'
    | 'retention-too-short'
    | 'trigger-fails'
    | 'invariant-broken'
  /** The trigger or recipient. */
  readonly where: string
  /** What happens. */
  readonly says: string
  /** What to change. */
  readonly change: string
  /** Replays what was seen: `counterfoil simulate --seed N`. */
  readonly seed?: number
}
