import { type ErrorCode, errorCodes } from './errors.ts'

/**
 * The members of a problem (RFC 9457) as Counterfoil writes it; `code` is the stable part.
 *
 * @param detail what was wrong in this case; never a secret or a payload
 * @param members further members of this problem alone
 */
export function problemDocument(
  status: number,
  code: ErrorCode,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { type: 'about:blank', title: errorCodes[code], status, code, detail, ...members }
}
