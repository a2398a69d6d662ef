import type { Delivery } from '../producer.ts'

/** One word, such as a GUID, `pull_request` or `orders/create`. A header that was sent twice holds a comma and is none. */
export function headerToken(delivery: Delivery, name: string): string | null {
  const value = delivery.header(name)
  return value !== null && /^[\w./-]{1,128}$/.test(value) ? value : null
}
