// By its file: under its bare name Bun gives something else, and no request leaves.
import { Agent, type Dispatcher } from 'undici/index.js'
import type { Exchange } from '../domain/index.ts'
import { type Connector, createConnector, type ResolveName } from './connector.ts'
import { ExchangeHandler } from './exchange-handler.ts'
import type { Network, NetworkRequest } from './network.ts'
import { whenAborted } from './stopping.ts'

/** Largest header section of an answer, in bytes; Node's own default. */
const maxAnswerHeaderBytes = 16_384
/** setTimeout counts no further. */
const maxTimerMs = 2_147_483_647

/** Settings of the network that recipients are reached over. */
export interface UndiciNetworkOptions {
  /** Connections to one origin at once; more requests wait, and their deadline runs. Default 128. */
  readonly connectionsPerOrigin?: number
  /** Milliseconds for DNS, TCP and TLS together; a request's own deadline may end it sooner. Default 10 000. */
  readonly connectTimeoutMs?: number
  /** Milliseconds that an unused connection is kept, unless the recipient asks for less. Default 4 000. */
  readonly keepAliveMs?: number
  /** PEM of certificate authorities to trust instead of Node's. */
  readonly ca?: string
  /** Resolves names. Default: the operating system. */
  readonly resolveName?: ResolveName
}

/**
 * The network over real sockets: undici with a connector and a handler of our own and nothing else. No
 * proxy, interceptor, redirect, retry or pipelining: each of these could make one request into two.
 */
export function undiciNetwork(options: UndiciNetworkOptions = {}): Network {
  // Two agents, or a recipient that may not reach a private address could borrow the open connection of one that may.
  const agents = new Map<boolean, { readonly agent: Agent; readonly connector: Connector }>()
  let closed = false

  function agentFor(allowPrivateAddresses: boolean): Agent {
    const known = agents.get(allowPrivateAddresses)
    if (known !== undefined) return known.agent
    const connector = createConnector({
      allowPrivateAddresses,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ...(options.resolveName === undefined ? {} : { resolveName: options.resolveName }),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    })
    const agent = new Agent({
      connect: connector.connect,
      allowH2: false,
      pipelining: 1,
      connections: options.connectionsPerOrigin ?? 128,
      keepAliveTimeout: options.keepAliveMs ?? 4_000,
      maxHeaderSize: maxAnswerHeaderBytes,
      // The one deadline of `send` governs.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    agents.set(allowPrivateAddresses, { agent, connector })
    return agent
  }

  return {
    async send(request, signal) {
      if (closed) return { kind: 'notSent', why: 'this process closed its connections' }
      if (signal.aborted) return { kind: 'notSent', why: 'it was stopped before it began' }
      if (!/^https?:$/.test(request.url.protocol)) {
        return { kind: 'notSent', why: `${request.url.protocol} is not a protocol for recipients` }
      }
      return await exchange(agentFor(request.allowPrivateAddresses), request, signal)
    },
    async close() {
      closed = true
      const open = [...agents.values()]
      agents.clear()
      for (const { connector } of open) connector.destroy()
      await Promise.all(open.map(({ agent }) => agent.destroy()))
    },
  }
}

function exchange(agent: Agent, request: NetworkRequest, signal: AbortSignal): Promise<Exchange> {
  const { url, method, headers, body, bodyStream, timeoutMs, maxAnswerBytes } = request
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(maxAnswerBytes, (seen) => {
      clearTimeout(deadline)
      goOn()
      resolve(seen)
    })
    const goOn = whenAborted(signal, () => handler.giveUp('it was stopped before the answer was complete'))
    const deadline = setTimeout(
      () => handler.giveUp(`no complete answer within ${timeoutMs} ms`),
      Math.min(timeoutMs, maxTimerMs),
    )
    const dispatch: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers:
        bodyStream === undefined ? headers : { ...headers, 'content-length': String(bodyStream.length) },
      // undici takes any iterable; its type names fewer.
      body: bodyStream === undefined ? body : (handler.sending(bodyStream) as never),
      // Even a GET waits for a connection of its own.
      idempotent: false,
    }
    agent.dispatch(dispatch, handler)
  })
}
