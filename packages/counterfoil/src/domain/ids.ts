/** Branded strings, so that one kind of name cannot stand in for another (design.md section 2). */
declare const brand: unique symbol
type Branded<Kind extends string> = string & { readonly [brand]: Kind }

/** `rcp_` and 26 characters that sort by time of acceptance. */
export type ReceiptId = Branded<'ReceiptId'>
/** `eff_` and 26 characters that sort by time of planning. Names a ledger row, not a logical operation: that is `EffectKey`. */
export type EffectId = Branded<'EffectId'>
/** `qua_` and 26 characters that sort by time. */
export type QuarantineId = Branded<'QuarantineId'>
/** The semantic name of one logical operation at a recipient, such as `invoice/481/collect/revision/3`. */
export type EffectKey = Branded<'EffectKey'>
/** What the recipient sees; derived once from the effect identity and stable for ever. */
export type IdempotencyKey = Branded<'IdempotencyKey'>
/** `jcs-sha256:HEX` of the canonical JSON, or `raw-sha256:HEX` of the bytes as they came. */
export type Fingerprint = Branded<'Fingerprint'>
/** `del-sha256:HEX` of a delivery identity (namespace, source, id). */
export type DeliveryDigest = Branded<'DeliveryDigest'>
/** Names one running engine; leases are held in its name. */
export type WorkerId = Branded<'WorkerId'>

/** W3C Trace Context, `traceparent` of version 00: a trace, a span of it, and whether it is recorded. */
export type TraceParent = Branded<'TraceParent'>

/** Milliseconds since the Unix epoch, from the clock port. */
export type Instant = number

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * A time-ordered id: 10 characters of milliseconds, 16 of randomness, in Crockford's base 32, so that
 * new rows land at the end of an index.
 *
 * @param at milliseconds since the Unix epoch
 * @param random 10 random bytes
 */
export function timeOrderedId<Id extends ReceiptId | EffectId | QuarantineId | WorkerId>(
  prefix: 'rcp' | 'eff' | 'qua' | 'wrk',
  at: Instant,
  random: Uint8Array,
): Id {
  let time = ''
  let rest = at
  for (let i = 0; i < 10; i++) {
    time = crockford[rest % 32] + time
    rest = Math.floor(rest / 32)
  }
  let tail = ''
  let bits = 0
  let held = 0
  for (const byte of random.subarray(0, 10)) {
    bits = (bits << 8) | byte
    held += 8
    while (held >= 5) {
      held -= 5
      tail += crockford[(bits >>> held) & 31]
    }
    bits &= (1 << held) - 1
  }
  return `${prefix}_${time}${tail}` as Id
}
