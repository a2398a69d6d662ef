import type { Published } from '../publisher.ts'

/** Messages that are never taken, by the names of their errors in the API references of SQS and SNS. */
const refused =
  /^(InvalidMessageContents|MessageTooLong|InvalidParameter|InvalidParameterValue(Exception)?|UnsupportedOperation)$/

/**
 * What an error of the AWS SDK for JavaScript (v3) proves. Whole answers with a 4xx status are the service's own refusal
 * (`$fault: client`); a 5xx, and what ended without an answer, may have been stored.
 */
export function readFailure(error: unknown): Published {
  const { name, $metadata } = (error ?? {}) as { name?: unknown; $metadata?: { httpStatusCode?: unknown } }
  const called = typeof name === 'string' && /^[\w.#]{1,80}$/.test(name) ? name : 'an error'
  const status = $metadata?.httpStatusCode
  if (typeof status !== 'number' || status < 400 || status >= 500 || status === 408)
    return { kind: 'unknown', why: `the call ended with ${called}` }
  return {
    kind: refused.test(called) ? 'refused' : 'notActed',
    why: `the service answered ${status}: ${called}`,
  }
}
