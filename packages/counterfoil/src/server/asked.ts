import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { CounterfoilError } from '../domain/index.ts'
import type { Act, Decision, Operator } from '../operate/index.ts'
import { number, type readBody, text } from './request-body.ts'

/** A request of an operator, and what is read of it. */
export type Bindings = { Bindings: HttpBindings; Variables: { operator: Operator } }
export type Asked = Context<Bindings>
export type Api = Hono<Bindings>
export type Body = Awaited<ReturnType<typeof readBody>>

const maxPage = 500

export function actOf(context: Asked, body: Body): Act {
  const operator = context.get('operator')
  return { operator, reason: text(body, 'reason'), decision: text(body, 'decision') }
}

export function decisionOf(context: Asked, body: Body): Decision {
  return { ...actOf(context, body), expectedVersion: number(body, 'expectedVersion') }
}

/** @throws CounterfoilError `request_invalid` */
export function page(limit = '50'): { limit: number } {
  const read = wholeNumber('limit', limit)
  if (read >= 1 && read <= maxPage) return { limit: read }
  throw new CounterfoilError('request_invalid', `limit is from 1 to ${maxPage}.`)
}

/** @throws CounterfoilError `request_invalid` */
export function wholeNumber(name: string, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new CounterfoilError('request_invalid', `${name} is a whole number.`)
}

/** One of the choices, where it is given. @throws CounterfoilError `request_invalid` */
export function oneOf<const Choice extends string>(
  name: string,
  given: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((one) => one === given)
  if (given === undefined || choice !== undefined) return choice
  throw new CounterfoilError('request_invalid', `${name} is none of: ${choices.join(', ')}.`)
}

/** The given members alone: what was not asked for is not there. */
export function given<Members extends Record<string, unknown>>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>
  }
}
