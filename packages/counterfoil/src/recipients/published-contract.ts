import {
  type Contract,
  CounterfoilError,
  checkContract,
  codeOf,
  contractPath,
  type Duration,
  type Log,
  milliseconds,
  type Ordering,
} from '../domain/index.ts'
import { keepContract, readKept } from './kept-contract.ts'
import type { Network } from './network.ts'
import { readContract } from './read-contract.ts'
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
  /**
   * A file that the contract is kept in. While the service cannot be asked, or what it publishes is no contract, the one
   * that was kept last holds; so this program starts although that one is down.
   */
  readonly keptIn?: string
  /** True: refuse a contract that compares no versions. Effects at this recipient may then claim order. */
  readonly fence?: boolean
  /** Told when the kept contract is used, or the published one is another than that. Default: a warning of the process. */
  readonly log?: Log
}

/** A contract whose recipient compares versions. */
export type FencedContract = Contract & {
  readonly ordering: Ordering & { readonly fence: NonNullable<Ordering['fence']> }
}

/**
 * Reads the contract that a recipient publishes at its origin. Read it once, when the configuration is made: types,
 * retention and `counterfoil check` come from it, and a service must not change them while effects are under way.
 *
 * @param url any URL of the recipient
 * @throws CounterfoilError `contract_unpublished` when there is none to read, `contract_invalid` when what is there
 *   contradicts itself, `order_without_fence` when it compares no versions and `fence` is asked for
 *
 * @example
 * const contract = await publishedContract('https://seats.internal', { keptIn: 'seats.contract.json' })
 * const seats = recipient('seats', { url: 'https://seats.internal', contract })
 */
export function publishedContract(
  url: string,
  options: PublishedContractOptions & { readonly fence: true },
): Promise<FencedContract>
export function publishedContract(url: string, options?: PublishedContractOptions): Promise<Contract>
export async function publishedContract(
  url: string,
  options: PublishedContractOptions = {},
): Promise<Contract> {
  const { origin } = new URL(url)
  const contract = await publishedOrKept(origin, options)
  if (options.fence !== true || contract.ordering?.fence !== undefined) return contract
  throw new CounterfoilError(
    'order_without_fence',
    `The contract that ${origin} publishes compares no versions.`,
    {
      hint: 'Leave out fence, and order no effects there; or give that service a fence.',
    },
  )
}

async function publishedOrKept(origin: string, options: PublishedContractOptions): Promise<Contract> {
  const { keptIn, log = warning } = options
  if (keptIn === undefined) return await ask(origin, options)
  const kept = await readKept(keptIn)
  let published: Contract
  try {
    published = await ask(origin, options)
  } catch (error) {
    const code = codeOf(error)
    if (kept === null || (code !== 'contract_unpublished' && code !== 'contract_invalid')) throw error
    log('warn', 'a published contract could not be read; the kept one holds', { origin, keptIn, code })
    return kept
  }
  const failed = await keepContract(keptIn, published, kept)
  if (failed !== null) log('warn', 'a published contract could not be kept', { origin, keptIn, code: failed })
  if (kept !== null && JSON.stringify(kept) !== JSON.stringify(published))
    log('warn', 'a published contract is another than the kept one', { origin, keptIn })
  return published
}

async function ask(origin: string, options: PublishedContractOptions): Promise<Contract> {
  const { timeout = '10s', allowPrivateAddresses = false } = options
  const network = options.network ?? undiciNetwork()
  const asked = {
    url: new URL(contractPath, origin),
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
  if (exchange.kind !== 'answered') throw unpublished(origin, exchange.why)
  if (exchange.status !== 200) throw unpublished(origin, `it was answered ${exchange.status}`)
  const reading = readContract(exchange.body)
  if (reading.kind === 'refused') throw unpublished(origin, reading.why)
  checkContract(new URL(origin).host, reading.contract)
  return reading.contract
}

function unpublished(origin: string, why: string): CounterfoilError {
  return new CounterfoilError('contract_unpublished', `The contract of ${origin} cannot be read: ${why}.`, {
    hint: 'Start the service first, keep its contract in a file with keptIn, or write it into the configuration.',
  })
}

function warning(...[, message, fields = {}]: Parameters<Log>): void {
  process.emitWarning(`${message}: ${JSON.stringify(fields)}`)
}
