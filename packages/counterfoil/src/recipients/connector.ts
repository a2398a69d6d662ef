import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
// By its file: under its bare name Bun gives something else, and no request leaves.
import { buildConnector } from 'undici/index.js'
import { isPrivateAddress } from './private-address.ts'

/** Resolves a name to all its addresses. The default is the operating system's resolver. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

export interface ConnectorOptions {
  readonly connectTimeoutMs: number
  readonly allowPrivateAddresses: boolean
  readonly resolveName?: ResolveName
  /** PEM of certificate authorities to trust instead of Node's. */
  readonly ca?: string
}

/** The connection was never made, so nothing was sent on it. `message` is a plain clause without secrets. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure'
  /** One that undici gives to every request waiting for this connection, instead of connecting again for them. */
  readonly code = 'COUNTERFOIL_CONNECT'
}

/** Stands in for ECONNRESET, see `tellResetsApart`. */
export const resetCode = 'COUNTERFOIL_RESET'

export interface Connector {
  readonly connect: buildConnector.connector
  /** Ends the connections that are still being made; undici ends the others. */
  destroy(): void
}

/**
 * Makes the connections of one agent: HTTP/1.1 only, addresses checked, every failure told as a
 * `ConnectFailure`.
 *
 * HTTP/2 is left out on purpose: there undici puts a request that was already sent back into its queue when
 * the server says GOAWAY.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const { allowPrivateAddresses, connectTimeoutMs, ca } = options
  const resolveName = options.resolveName ?? systemLookup
  const make = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: allowPrivateAddresses ? lookupAll(resolveName) : lookupPublic(resolveName),
    ...(ca === undefined ? {} : { ca }),
  } as buildConnector.BuildOptions)
  const connecting = new Set<Socket>()

  const connect: buildConnector.connector = (target, callback) => {
    const { hostname, protocol } = target
    const place = `${target.hostname}:${target.port || (protocol === 'https:' ? 443 : 80)}`
    // A literal address is never looked up, so it is checked here.
    if (!allowPrivateAddresses && isIP(hostname) !== 0 && isPrivateAddress(hostname)) {
      callback(new ConnectFailure(addressRefused(hostname, [hostname])), null)
      return
    }
    let socket: Socket | undefined
    let inTls = false
    const done = (error: Error | null, made: Socket | TLSSocket | null) => {
      if (socket !== undefined) connecting.delete(socket)
      if (error !== null || made === null) {
        callback(new ConnectFailure(describeFailure(error, place, inTls, connectTimeoutMs)), null)
        return
      }
      // The last word: whatever was resolved, this is where the connection leads.
      if (!allowPrivateAddresses && isPrivateAddress(made.remoteAddress ?? '')) {
        made.destroy()
        callback(new ConnectFailure(addressRefused(hostname, [made.remoteAddress ?? 'no address'])), null)
        return
      }
      tellResetsApart(made)
      callback(null, made)
    }
    // undici's own connector returns the socket, though its type does not say so.
    socket = make(target, (...args) => done(args[0], args[1])) as unknown as Socket
    if (socket.connecting) connecting.add(socket)
    socket.once('connect', () => {
      inTls = protocol === 'https:'
    })
  }

  return {
    connect,
    destroy() {
      for (const socket of connecting) socket.destroy(new Error('closing'))
    },
  }
}

/**
 * undici takes ECONNRESET inside an answer that has neither a length nor chunks for its proper end. Such an
 * answer ends with the connection, and a reset does not end it: it tears it (RFC 9112 section 8). Under
 * another code undici fails the request.
 */
function tellResetsApart(socket: Socket): void {
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = resetCode
  })
}

function lookupAll(resolveName: ResolveName): LookupFunction {
  return lookupWhere(resolveName, () => true)
}

/** Leaves out what is refused before anything is connected, so that a name cannot even probe for open ports. */
function lookupPublic(resolveName: ResolveName): LookupFunction {
  return lookupWhere(resolveName, ({ address }) => !isPrivateAddress(address))
}

function lookupWhere(
  resolveName: ResolveName,
  isAllowed: (address: LookupAddress) => boolean,
): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '')
        return
      }
      const allowed = addresses.filter(isAllowed)
      const first = allowed[0]
      if (first === undefined) {
        const refused = addresses.map(({ address }) => address)
        callback(new ConnectFailure(addressRefused(hostname, refused)), '')
      } else if (options.all === true) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }
}

function addressRefused(hostname: string, addresses: readonly string[]): string {
  const where = addresses.length === 0 ? 'no address' : addresses.slice(0, 4).join(', ')
  return `address_refused: ${hostname} leads to ${where}, which is not a public address`
}

function describeFailure(
  error: NodeJS.ErrnoException | null,
  place: string,
  inTls: boolean,
  connectTimeoutMs: number,
): string {
  if (error instanceof ConnectFailure) return error.message
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection to ${place} within ${connectTimeoutMs} ms`
  if (error?.syscall === 'getaddrinfo' || /^(ENOTFOUND|EAI_)/.test(code))
    return `${place} does not resolve (${code})`
  if (code === 'ECONNREFUSED') return `${place} refused the connection (${code})`
  return inTls ? `no TLS with ${place} (${code})` : `no connection to ${place} (${code})`
}

/** Only codes are told of errors: their messages may quote what was received. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,60}$/.test(code) ? code : 'no code'
}
