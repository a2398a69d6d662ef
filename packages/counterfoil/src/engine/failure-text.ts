import { codeOf } from '../domain/index.ts'

/** Code and message, bounded. A trigger's own error text is the user's and may be shown to its owner. */
export function describe(error: unknown): string {
  const code = codeOf(error)
  const text = error instanceof Error ? error.message : String(error)
  return `${code === undefined ? '' : `${code}: `}${text}`.slice(0, 500)
}
