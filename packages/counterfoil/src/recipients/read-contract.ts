import { type Contract, readPointer } from '../domain/index.ts'

export type ContractReading =
  | { readonly kind: 'read'; readonly contract: Contract }
  | { readonly kind: 'refused'; readonly why: string }

/** Bytes from elsewhere as a contract. Whether it contradicts itself, `checkContract` says. */
export function readContract(bytes: Uint8Array): ContractReading {
  let contract: unknown
  try {
    contract = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return { kind: 'refused', why: 'the answer is no JSON' }
  }
  const why = faultOf(contract)
  return why === undefined ? { kind: 'read', contract: contract as Contract } : { kind: 'refused', why }
}

/** What every part must have; a member that is not there would be read as a promise. */
const required: readonly (readonly [path: string, member: string, values: readonly unknown[] | 'any'])[] = [
  ['/idempotency', 'remembersFor', 'any'],
  ['/idempotency', 'otherPayload', ['refused', 'first-answer', 'unstated']],
  ['/idempotency', 'replays', ['first-success', 'first-answer', 'nothing', 'unstated']],
  ['/lookup', 'by', ['key', 'correlation', 'function']],
  ['/lookup', 'absence', 'any'],
  ['/lookup/absence', 'final', [true, false]],
  ['/ordering/fence', 'header', 'any'],
  ['/ordering/fence', 'rejectedWith', 'any'],
  ['/ordering/tombstone', 'method', ['PUT', 'POST', 'DELETE']],
  ['/ordering/tombstone', 'path', 'any'],
]

/** Everything else is refused by `checkContract`, or is no member of a contract and is not read. */
function faultOf(contract: unknown): string | undefined {
  if (!isObject(contract)) return 'the answer is no JSON object'
  for (const [path, member, values] of required) {
    const part = readPointer(contract, path)
    if (part === undefined) continue
    if (!isObject(part)) return `${path} is no object`
    const value = part[member]
    if (value === undefined || (values !== 'any' && !values.includes(value)))
      return `${path}/${member} is not what a contract has there`
  }
  for (const list of ['/outcomes', '/lookup/answers', '/ordering/tombstone/answers']) {
    const rules = readPointer(contract, list) ?? []
    if (!Array.isArray(rules) || !rules.every((rule) => isObject(rule) && typeof rule.means === 'string'))
      return `${list} is no list of rules`
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
