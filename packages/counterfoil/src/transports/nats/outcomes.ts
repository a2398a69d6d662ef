import type { Published } from '../publisher.ts'

/**
 * What JetStream's own errors prove, by `err_code` (nats-server, server/errors.json). Each of these is said before
 * anything is stored. An error that is not here proves nothing: 10077 too, which a leader says when its own disk failed,
 * while others of a cluster may have stored the message.
 */
const outcomes: ReadonlyMap<number, 'refused' | 'notActed'> = new Map([
  [10008, 'notActed'], // the cluster is not available
  [10009, 'notActed'], // not the leader
  [10023, 'notActed'], // insufficient resources
  [10028, 'notActed'], // memory resources exceeded
  [10039, 'notActed'], // JetStream is not enabled for the account
  [10047, 'notActed'], // storage resources exceeded
  [10054, 'refused'], // the message is larger than the stream takes
  [10060, 'notActed'], // another stream listens on the subject
  [10070, 'notActed'], // another last message id
  [10071, 'notActed'], // another last sequence
  [10076, 'notActed'], // JetStream is not enabled
  [10097, 'refused'], // the headers are larger than a stream takes
  [10109, 'notActed'], // the stream is sealed
])

/** A publish acknowledgement as it comes (JetStream wire API, PubAck). */
export interface PubAck {
  readonly stream?: string
  readonly seq?: number
  readonly duplicate?: boolean
  readonly error?: { readonly code: number; readonly err_code?: number; readonly description?: string }
}

export function readPubAck({ stream, seq, duplicate, error }: PubAck): Published {
  if (error !== undefined) {
    const { err_code: code = 0, description = 'an error' } = error
    return {
      kind: outcomes.get(code) ?? 'unknown',
      why: `JetStream said ${code}: ${description.slice(0, 120)}`,
    }
  }
  if (typeof stream !== 'string' || stream === '' || !Number.isSafeInteger(seq)) {
    return { kind: 'unknown', why: 'the answer is no acknowledgement of a stream' }
  }
  return { kind: 'confirmed', position: `${stream} ${seq}`, duplicate: duplicate === true }
}

/** What a failed request proves. Only names are told of errors: their messages may hold addresses and more. */
export function readFailure(error: unknown): Published {
  const name = error instanceof Error ? error.name : 'something'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.name : name
  if (isNoResponders(error)) return { kind: 'notActed', why: 'no stream listens on the subject' }
  if (name === 'TimeoutError') return { kind: 'unknown', why: 'no acknowledgement came in time' }
  if (name === 'PermissionViolationError' || cause === 'PermissionViolationError')
    return { kind: 'notActed', why: 'the server does not let this program publish on the subject' }
  if (name === 'InvalidArgumentError' || name === 'InvalidSubjectError')
    return { kind: 'refused', why: `the client cannot send it (${name}): its subject or its size` }
  return { kind: 'unknown', why: `the connection was lost before an acknowledgement came (${name})` }
}

function isNoResponders(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name === 'NoResponders' || isNoResponders(error.cause)
}
