import { randomBytes } from 'node:crypto'
import type { SignInOptions } from '../counterfoil.ts'
import { type Clock, CounterfoilError, type Instant } from '../domain/index.ts'
import { isRole, type Operator } from '../operate/index.ts'

/** How long somebody may take at the provider. */
const patienceMs = 10 * 60_000
/** Sign-ins under way at once; the oldest makes room. */
const maxPending = 1_000

interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly until: Instant
}

/**
 * Sign-in at an OpenID Connect provider: authorization code with PKCE, state and nonce, each used once and bound to
 * the browser that began by a ticket that only it holds.
 */
export class OidcSignIn {
  readonly #options: SignInOptions
  readonly #clock: Clock
  readonly #redirectUri: () => string
  readonly #pending = new Map<string, Pending>()
  #client: Promise<Client> | undefined

  constructor(options: SignInOptions, clock: Clock, redirectUri: () => string) {
    this.#options = options
    this.#clock = clock
    this.#redirectUri = redirectUri
  }

  /** @returns where to send the browser, and the ticket for it to keep until it comes back */
  async begin(): Promise<{ readonly url: string; readonly ticket: string }> {
    const { oidc, provider } = await this.#connect()
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()]
    const url = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: this.#redirectUri(),
      scope: this.#options.scope ?? 'openid email profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const ticket = randomBytes(32).toString('base64url')
    const [oldest] = this.#pending.keys()
    if (this.#pending.size >= maxPending && oldest !== undefined) this.#pending.delete(oldest)
    this.#pending.set(ticket, { state, nonce, verifier, until: this.#clock.now() + patienceMs })
    return { url: url.href, ticket }
  }

  /**
   * @param query of the address that the provider sent the browser back to
   * @throws CounterfoilError `not_authenticated`, `not_authorised`
   */
  async finish(query: string, ticket: string | undefined): Promise<Operator> {
    const pending = ticket === undefined ? undefined : this.#pending.get(ticket)
    if (ticket !== undefined) this.#pending.delete(ticket)
    if (pending === undefined || this.#clock.now() >= pending.until) {
      throw new CounterfoilError('not_authenticated', 'This sign-in was not begun here, or took too long.')
    }
    const { oidc, provider } = await this.#connect()
    const answer = await oidc
      .authorizationCodeGrant(provider, new URL(`${this.#redirectUri()}${query}`), {
        pkceCodeVerifier: pending.verifier,
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      })
      .catch((cause: unknown) => {
        throw new CounterfoilError(
          'not_authenticated',
          'The identity provider did not confirm the sign-in.',
          { cause },
        )
      })
    const operator = this.#options.operator(answer.claims() ?? {})
    if (operator !== null && operator.name !== '' && isRole(operator.role)) return operator
    throw new CounterfoilError('not_authorised', 'Whoever signed in there is no operator here.', {
      hint: 'See signIn.operator in the configuration.',
    })
  }

  /** Found when it is first needed, so that a provider that is down stops nothing but its own sign-ins. */
  #connect(): Promise<Client> {
    this.#client ??= connect(this.#options).catch((error: unknown) => {
      this.#client = undefined
      throw error
    })
    return this.#client
  }
}

type Client = Awaited<ReturnType<typeof connect>>

async function connect({ issuer, clientId, clientSecret }: SignInOptions) {
  const oidc = await import('openid-client').catch((cause: unknown) => {
    throw new CounterfoilError('config_invalid', 'signIn needs the package openid-client.', {
      hint: 'npm install openid-client',
      cause,
    })
  })
  const url = new URL(issuer)
  const isHere = url.hostname === '127.0.0.1' || url.hostname === 'localhost'
  const provider = await oidc.discovery(
    url,
    clientId,
    undefined,
    clientSecret === undefined ? oidc.None() : oidc.ClientSecretBasic(clientSecret),
    // Everywhere else the provider is reached by TLS.
    isHere ? { execute: [oidc.allowInsecureRequests] } : {},
  )
  return { oidc, provider }
}
