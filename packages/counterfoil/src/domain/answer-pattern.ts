import type { AnswerMember, AnswerPattern } from './contract.ts'
import type { Exchange } from './exchange.ts'
import { readPointer } from './json-pointer.ts'

export type Answered = Extract<Exchange, { kind: 'answered' }>

/** The first rule that an answer fits. */
export function ruleFor<Rule extends AnswerPattern>(
  rules: readonly Rule[] | undefined,
  answer: Answered,
): Rule | undefined {
  return rules?.find((rule) => matches(rule, answer))
}

export function matches({ status, header, body }: AnswerPattern, answer: Answered): boolean {
  return (
    fitsStatus(status, answer.status) &&
    (header === undefined || hasHeader(answer, header.name, header.equals)) &&
    (body === undefined || memberOf(answer, body.pointer) === body.equals)
  )
}

/** True when a rule reads the body of this status and this body cannot be read: then the status alone proves nothing. */
export function dependsOnBody(rules: readonly AnswerPattern[], answer: Answered): boolean {
  const reads = rules.some(({ status, body }) => body !== undefined && fitsStatus(status, answer.status))
  return reads && jsonOf(answer) === undefined
}

/** True when a rule's status stands for this one. */
export function fitsStatus(pattern: AnswerPattern['status'], status: number): boolean {
  return typeof pattern === 'number' ? pattern === status : pattern[0] === String(status)[0]
}

export function hasMember(answer: Answered, member: AnswerMember): boolean {
  return member.header === undefined
    ? memberOf(answer, member.pointer) === member.equals
    : hasHeader(answer, member.header, member.equals)
}

/** The text of a header, or the value at a JSON Pointer in the body; undefined when it is not there. */
export function readMember(
  answer: Answered,
  where: { readonly header?: string | undefined; readonly pointer?: string | undefined },
): unknown {
  if (where.header !== undefined) return answer.headers[where.header.toLowerCase()]
  return where.pointer === undefined ? undefined : memberOf(answer, where.pointer)
}

function hasHeader(answer: Answered, name: string, equals: string | undefined): boolean {
  const value = answer.headers[name.toLowerCase()]
  return equals === undefined ? value !== undefined : value?.trim() === equals
}

function memberOf(answer: Answered, pointer: string): unknown {
  return readPointer(jsonOf(answer)?.value, pointer)
}

function jsonOf(answer: Answered): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder().decode(answer.body)) }
  } catch {
    return undefined
  }
}
