import type { Published } from '../publisher.ts'

/** Messages that are never taken, by the names of their errors in the API references of SQS and SNS. */
const refused =
  /^(InvalidMessageContents|MessageTooLong|InvalidParameter|InvalidParameterValue(Exception)?|UnsupportedOperation)$/

/** No connection was made: the name has no address, or nobody listens there. */
const neverConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/

/**
 * What an error of the AWS SDK for JavaScript (v3) proves. Whole answers with a 4xx status are the service's own refusal
 * (`$fault: client`); a 5xx, and what ended without an answer, may have been stored. Where no connection could be made
 * nothing was sent, if it was the SDK's first try: of its own retries only the last one's error is seen.
 */
export function readFailure(error: unknown): Published {
  const { name, code, $metadata } = (error ?? {}) as {
    name?: unknown
    code?: unknown
    $metadata?: { httpStatusCode?: unknown; attempts?: unknown }
  }
  if (typeof code === 'string' && neverConnected.test(code) && $metadata?.attempts === 1)
    return { kind: 'notActed', why: `no connection was made (${code})` }
  const called = typeof name === 'string' && /^[\w.#]{1,80}$/.test(name) ? name : 'an error'
  const status = $metadata?.httpStatusCode
  if (typeof status !== 'number' || status < 400 || status >= 500 || status === 408)
    return { kind: 'unknown', why: `the call ended with ${called}` }
  return {
    kind: refused.test(called) ? 'refused' : 'notActed',
    why: `the service answered ${status}: ${called}`,
  }
}
