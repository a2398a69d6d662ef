import {
  type Contract,
  CounterfoilError,
  checkContract,
  contractPath,
  type Duration,
  milliseconds,
  readPointer,
} from '../domain/index.ts'
import type { Network } from './network.ts'
import { undiciNetwork } from './undici-network.ts'

/** Contracts are short. */
const maxContractBytes = 256 * 1024

/** How a published contract is fetched. */
export interface PublishedContractOptions {
  /** Default: a connection of its own, closed afterwards. */
  readonly network?: Network
  /** Default `10s`. */
  readonly timeout?: Duration
  /** Private and loopback addresses are refused unless this is true. */
  readonly allowPrivateAddresses?: boolean
}

/**
 * Reads the contract that a recipient publishes at its origin. Read it once, when the configuration is made:
 * effects are planned by the contract that was read, and a service that cannot be asked must not change them.
 *
 * @param url any URL of the recipient
 * @throws CounterfoilError `contract_unpublished` when there is none to read, `contract_invalid` when what is there
 *   contradicts itself
 *
 * @example
 * const contract = await publishedContract('https://seats.internal')
 * const seats = recipient('seats', { url: 'https://seats.internal', contract })
 */
export async function publishedContract(
  url: string,
  options: PublishedContractOptions = {},
): Promise<Contract> {
  const { timeout = '10s', allowPrivateAddresses = false } = options
  const refuse = (why: string): never => {
    throw new CounterfoilError(
      'contract_unpublished',
      `The contract of ${new URL(url).origin} cannot be read: ${why}.`,
      {
        hint: 'Start the service first, or write its contract into the configuration.',
      },
    )
  }
  const network = options.network ?? undiciNetwork()
  const asked = {
    url: new URL(contractPath, url),
    method: 'GET',
    headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'counterfoil' },
    body: null,
    timeoutMs: milliseconds(timeout),
    maxAnswerBytes: maxContractBytes,
    allowPrivateAddresses,
  }
  const exchange = await network.send(asked, new AbortController().signal).finally(async () => {
    if (options.network === undefined) await network.close()
  })
  if (exchange.kind !== 'answered') return refuse(exchange.why)
  if (exchange.status !== 200) return refuse(`it was answered ${exchange.status}`)
  let contract: unknown
  try {
    contract = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(exchange.body))
  } catch {
    return refuse('the answer is no JSON')
  }
  const fault = faultOf(contract)
  if (fault !== undefined) return refuse(fault)
  checkContract(new URL(url).host, contract as Contract)
  return contract as Contract
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
