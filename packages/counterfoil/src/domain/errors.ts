/** Every error a user can meet, with its stable code (docs/errors.md lists them; a test holds the two together). */
export const errorCodes = {
  // intake: nothing was stored
  producer_unknown: 'No producer of that name is configured.',
  method_not_allowed: 'No delivery of this producer comes with this method.',
  signature_missing: 'The delivery carries no signature.',
  signature_invalid: 'No configured secret verifies the delivery.',
  timestamp_invalid: 'The signed timestamp is not a plain whole number of seconds.',
  timestamp_stale: 'The signed timestamp is further from now than the tolerance allows.',
  body_too_large: 'The body is larger than the limit.',
  body_too_slow: 'The body did not arrive within the time limit.',
  body_broken: 'The body ended before it was complete.',
  body_already_read: 'A body parser has read the body before the delivery came here.',
  content_type_unsupported: 'The content type is not one this producer sends.',
  content_encoding_unsupported: 'The body is compressed in a way that is not understood.',
  syntax_invalid: 'The body is not valid for its content type.',
  identity_invalid: 'The delivery id is missing, too long or holds characters that no id may hold.',
  keys_unavailable: 'The server that holds the keys of this producer did not answer.',
  key_address_refused: 'The delivery names keys at an address that is not allowed.',
  rate_limited: 'This producer sends more than its rate allows.',
  headers_too_large: 'The headers are too many or too large.',
  overloaded: 'Too many deliveries are waiting; send again later.',
  backlog_full: 'Too many receipts wait for their plan; send again later.',
  beyond_retention: 'The event is older than the boundary of retention, and nothing is known of it any more.',
  // configuration
  config_invalid: 'The configuration contradicts itself or lacks something.',
  examples_needed: 'The simulator can derive no event of a type, and no example was given.',
  config_not_found: 'The configuration file does not exist or has no usable default export.',
  contract_invalid: 'The recipient contract contradicts itself.',
  contract_unpublished: 'The recipient publishes no contract that can be read.',
  order_without_fence: 'An effect claims order at a recipient that has no ordering control.',
  retention_too_short: 'A retention period is shorter than the horizons add up to.',
  retention_missing: 'The configuration says nothing of retention.',
  key_ring_missing: 'No vault key is configured.',
  key_ring_invalid: 'The vault key ring cannot be read.',
  // the program's own transaction
  event_invalid: 'The published event does not fit its schema, or JSON cannot hold it.',
  event_unknown: 'No trigger of the configuration subscribes to the published event.',
  transaction_missing: 'The handle is not in a transaction that is still open.',
  transaction_foreign: 'The transaction is not one of the database that the store is in.',
  // planning
  effect_key_invalid: 'An effect key is empty, too long or holds control characters.',
  effect_payload_invalid: 'The effect payload does not fit its schema.',
  effect_unknown: 'The trigger plans an effect that the configuration does not know.',
  plan_lost: 'Processes ended, or stood still past their lease, whenever they planned this event.',
  trigger_timeout: 'The trigger did not finish planning within its time limit.',
  transaction_closed: 'The transaction of this trigger is over.',
  statement_failed: 'A statement of a trigger failed.',
  statement_refused: 'A trigger may not run this statement.',
  // recipients
  address_refused: 'The recipient resolves to a private or loopback address that is not allowed.',
  idempotency_key_unfit: 'The recipient key format is too short to keep effects apart.',
  body_store_unknown: 'An effect sends a body from a store that its recipient does not name.',
  body_unreadable: 'The store of a body that an effect sends by reference cannot be read.',
  body_changed: 'The body that an effect sends by reference is not the one that it was planned with.',
  // guard: this request did not act
  guard_key_missing: 'The request carries no idempotency key, and this operation needs one.',
  guard_key_invalid: 'The idempotency key is empty, too long or holds characters that no key may hold.',
  guard_key_reused: 'The idempotency key was used before with another request.',
  guard_key_expired: 'The idempotency key is older than the time for which keys are remembered.',
  guard_in_flight: 'A request with this idempotency key is being worked on.',
  guard_tombstoned: 'This idempotency key was closed and can never act.',
  guard_time_invalid: 'A time that this operation needs is missing, malformed or in the future.',
  guard_attempt_stale: 'The attempt was begun longer ago than requests may travel.',
  guard_fence_invalid: 'The fence headers are missing or malformed.',
  guard_fenced: 'A newer version has already acted in this ordering domain.',
  guard_answer_unfit: 'The handler gave an answer that cannot be stored.',
  guard_handler_async: 'A handler on SQLite must give its answer at once, not a promise.',
  // store
  store_unavailable: 'The store did not commit; nothing was written.',
  commit_unknown: 'The store cannot tell whether it committed.',
  store_full: 'The disk or the file-size limit is full; nothing was written.',
  store_read_only: 'The store cannot be written.',
  store_corrupt: 'The store file is damaged or is not a Counterfoil store.',
  store_busy: 'Another process holds the store for longer than the time limit.',
  store_schema_newer: 'The store was written by a newer version of Counterfoil.',
  store_schema_older: 'The store needs a migration.',
  store_migration_changed: 'A migration that already ran differs from the one in this version.',
  store_closed: 'The store is closed.',
  marker_key_missing: 'The store holds markers, and the key that they were made under was not given.',
  store_not_durable: 'A store in memory is for tests, and this is production.',
  // vault
  vault_key_unknown: 'The key that sealed this payload is not in the key ring.',
  vault_damaged: 'The sealed payload does not open: it was altered or the key is another one.',
  // operating
  not_authenticated: 'The request carries no valid operator credentials.',
  not_authorised: 'The role of this operator does not allow that.',
  credentials_locked: 'Too many failed credentials came from there; try again later.',
  request_foreign: 'A request with the session of the console does not come from its own page.',
  request_invalid: 'The request to the operator interface is not what it takes.',
  decision_invalid: 'A decision lacks its operator, reason, id or version, or one of them is unusable.',
  decision_stale: 'The decision was made on an outdated view; nothing was changed.',
  decision_id_used: 'Another decision was made under this id; nothing was changed.',
  quarantine_settled: 'The quarantine entry was released or dismissed before; nothing was changed.',
  action_refused: 'The effect allows no such act now; nothing was changed.',
  second_person_needed: 'Another person than the one who proposed it has to confirm the decision.',
  reprocess_refused: 'An entry of this reason is never reprocessed.',
  selection_changed: 'What the filter finds is no longer what the dry run found; nothing was changed.',
  backfill_state: 'The backfill is in a state that this does not follow on; nothing was changed.',
  backfill_changed: 'The input is not the one that the digest stands for; nothing was changed.',
  backfill_malformed: 'The input holds items that cannot be read, and nobody accepted that.',
  backfill_unreadable: 'The source of the backfill cannot be read.',
  erasure_refused: 'Something of what was to be erased is not done with; nothing was erased.',
  not_found: 'There is no such record.',
  usage_invalid: 'The command was used wrongly.',
  internal: 'An assertion of Counterfoil itself failed; please report it.',
} as const

/** A stable code of `errorCodes`. */
export type ErrorCode = keyof typeof errorCodes

/** What went wrong, where, and what to do about it. Never holds a secret or a payload. */
export class CounterfoilError extends Error {
  override readonly name = 'CounterfoilError'
  readonly code: ErrorCode
  /** What the reader can do now. */
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}

/** The code of an error of ours, or undefined. Works across threads, where the class is lost but the code is kept. */
export function codeOf(error: unknown): ErrorCode | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : undefined
}

/** For what must never happen: throws at once rather than go on with a broken assumption. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new CounterfoilError('internal', message)
}
