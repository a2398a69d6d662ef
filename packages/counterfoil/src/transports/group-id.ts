import { hash } from 'node:crypto'
import type { Message } from './message.ts'

/**
 * The group that a broker keeps in order: the ordering domain, or a digest of one that does not fit 128 characters of
 * visible ASCII. Null where no order is claimed.
 */
export function groupIdOf({ order }: Message): string | null {
  if (order === null) return null
  return /^[!-~]{1,128}$/.test(order.domain)
    ? order.domain
    : `cf_${hash('sha256', order.domain, 'base64url')}`
}
