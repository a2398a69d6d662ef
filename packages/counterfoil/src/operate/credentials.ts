import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { OperatorOptions } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import { isRole, type Operator } from './operator.ts'

/** Characters of a token that is given in the environment, at least. */
export const minTokenLength = 16

interface Credential {
  readonly operator: Operator
  readonly salt: string
  readonly digest: Uint8Array
}

/** A new token of 256 random bits, shown once, and what the configuration keeps of it. */
export function newToken(): { readonly token: string; readonly kept: string } {
  const token = randomBytes(32).toString('base64url')
  const salt = randomBytes(16).toString('base64url')
  return { token, kept: `sha256:${salt}:${Buffer.from(digestOf(salt, token)).toString('hex')}` }
}

/** Who may use the operator interface, by token. */
export class Credentials {
  readonly #credentials: readonly Credential[]

  /**
   * @param env `COUNTERFOIL_OPERATORS`: `NAME:ROLE:TOKEN`, comma-separated; `COUNTERFOIL_OPERATOR_TOKEN`: one approver
   * @throws CounterfoilError `config_invalid`
   */
  constructor(configured: readonly OperatorOptions[], env: Readonly<Record<string, string | undefined>>) {
    this.#credentials = [...configured.flatMap(ofConfiguration), ...ofEnvironment(env)]
  }

  get isEmpty(): boolean {
    return this.#credentials.length === 0
  }

  /**
   * Compares with every credential, in constant time each. A token is random and long, so a plain digest with a
   * salt keeps it: there is nothing to guess.
   */
  operatorOf(token: string): Operator | null {
    let found: Operator | null = null
    for (const { operator, salt, digest } of this.#credentials) {
      if (timingSafeEqual(digestOf(salt, token), digest)) found = operator
    }
    return found
  }
}

/**
 * Who gives a command, for those with access to the store itself: its role is that of the configuration; where
 * that names no operators, whoever can read the file is an approver.
 *
 * @throws CounterfoilError `not_authorised`, `decision_invalid`
 */
export function operatorNamed(configured: readonly Operator[], name: string | undefined): Operator {
  if (name === undefined || name.trim() === '') {
    throw new CounterfoilError('decision_invalid', 'No operator is named.', {
      hint: 'Give --operator NAME, or set COUNTERFOIL_OPERATOR.',
    })
  }
  if (configured.length === 0) return { name, role: 'approver' }
  const known = configured.find((operator) => operator.name === name)
  if (known !== undefined) return { name, role: known.role }
  throw new CounterfoilError('not_authorised', `'${name}' is no operator of this configuration.`, {
    hint: 'Add the name to operators in counterfoil({ … }).',
  })
}

function ofConfiguration({ name, role, token }: OperatorOptions): Credential[] {
  if (token === undefined) return []
  const [, salt, hex] = /^sha256:([A-Za-z0-9_-]{16,64}):([0-9a-f]{64})$/.exec(token) ?? []
  if (salt === undefined || hex === undefined || !isRole(role)) {
    throw invalid(`The credentials of operator '${name}' cannot be read.`)
  }
  return [{ operator: { name, role }, salt, digest: Buffer.from(hex, 'hex') }]
}

function ofEnvironment(env: Readonly<Record<string, string | undefined>>): Credential[] {
  const listed = env.COUNTERFOIL_OPERATORS?.split(',').filter((one) => one.trim() !== '') ?? []
  const alone = env.COUNTERFOIL_OPERATOR_TOKEN
  const all = alone === undefined || alone === '' ? listed : [...listed, `operator:approver:${alone}`]
  return all.map((one) => {
    const [name = '', role = '', ...rest] = one.trim().split(':')
    const token = rest.join(':')
    if (name === '' || !isRole(role) || token.length < minTokenLength) {
      throw invalid(
        `An operator of the environment cannot be read, or its token is shorter than ${minTokenLength}.`,
      )
    }
    const salt = randomBytes(16).toString('base64url')
    return { operator: { name, role }, salt, digest: digestOf(salt, token) }
  })
}

function digestOf(salt: string, token: string): Uint8Array {
  return hash('sha256', `${salt}:${token}`, 'buffer')
}

function invalid(message: string): CounterfoilError {
  return new CounterfoilError('config_invalid', message, {
    hint: "Write token: 'sha256:SALT:HEX' as 'counterfoil operators new' prints it, or NAME:ROLE:TOKEN in COUNTERFOIL_OPERATORS; roles are viewer, operator, approver.",
  })
}
