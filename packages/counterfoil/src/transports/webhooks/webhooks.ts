import { type Clock, CounterfoilError, milliseconds, type Outcome } from '../../domain/index.ts'
import type { DeclareEffect } from '../../engine/index.ts'
import {
  type EffectDefinition,
  type HeadersAbout,
  type Recipient,
  type RecipientSource,
  recipient,
} from '../../recipients/index.ts'
import { webhookContract } from './contract.ts'
import {
  type Endpoint,
  endpointId,
  type KnownEndpoint,
  knownEndpoint,
  type WebhooksOptions,
  wants,
} from './endpoint.ts'
import { type EndpointHealth, healthAfter, healthy, isChange } from './health.ts'
import { standardSchedule, waitAfter } from './schedule.ts'
import { signatureHeader } from './signing-keys.ts'
import { faultOf, requestOf, type Webhook, type WebhookPayload, webhookSchema } from './webhook.ts'

/** What a trigger tells a tenant. */
export interface WebhookPlan extends Webhook {
  readonly tenant: string
  /** The semantic name of the news, such as `invoice/481/paid`: one message of it goes to each endpoint. */
  readonly key: string
}

/**
 * Webhooks to customers, signed as Standard Webhooks 1.0.0 says. Each endpoint is a recipient of its own, named
 * `NAME/ENDPOINT`: with its own places, so that a dead one holds up no other, its own health, and its own row wherever
 * recipients are shown. A message is an effect there, and `webhook-id` is its idempotency key.
 */
export interface Webhooks extends RecipientSource {
  /** Plans a message to each endpoint of the tenant that wants its type. @throws what the `endpoints` function throws */
  send(effect: DeclareEffect, plan: WebhookPlan): Promise<void>
  /** A message to one endpoint, for a trigger that reads the table of endpoints in its own transaction. */
  to(endpoint: string): EffectDefinition<WebhookPayload, false>
  /** How each known endpoint does. */
  health(): ReadonlyMap<string, EndpointHealth>
  /** Nothing is sent to it until it is resumed; messages wait. @throws CounterfoilError `not_found` */
  switchOff(endpoint: string): Promise<void>
  /** What waited is due at once. @throws CounterfoilError `not_found` */
  resume(endpoint: string): Promise<void>
}

/** @throws CounterfoilError `config_invalid` */
export function webhooks(
  name: string,
  options: WebhooksOptions,
  ports: { readonly clock?: Pick<Clock, 'now'> } = {},
): Webhooks {
  return new WebhookEndpoints(name, options, ports.clock ?? { now: () => Date.now() })
}

class WebhookEndpoints implements Webhooks {
  readonly name: string
  readonly contract
  readonly #options: WebhooksOptions
  readonly #clock: Pick<Clock, 'now'>
  readonly #schedule: readonly number[]
  readonly #offAfterMs: number
  readonly #freshMs: number
  readonly #known = new Map<string, KnownEndpoint>()
  readonly #recipients = new Map<string, Recipient>()
  readonly #effects = new Map<string, EffectDefinition<WebhookPayload, false>>()
  readonly #attached: Map<string, Recipient>[] = []
  #looked: number | null = null
  #looking: Promise<void> | undefined

  constructor(name: string, options: WebhooksOptions, clock: Pick<Clock, 'now'>) {
    const { schedule, offAfter = '5d', freshFor = '30s', deduplicatesFor = '7d', body = 'standard' } = options
    this.name = name
    this.contract = webhookContract(deduplicatesFor)
    this.#options = options
    this.#clock = clock
    this.#schedule = schedule?.map((wait) => milliseconds(wait)) ?? standardSchedule
    this.#offAfterMs = milliseconds(offAfter)
    this.#freshMs = milliseconds(freshFor)
    const fault = this.#schedule.length === 0 ? 'an empty schedule' : faultOf(body)
    if (fault !== undefined) throw new CounterfoilError('config_invalid', `Webhooks '${name}' have ${fault}.`)
    if (typeof options.endpoints !== 'function') this.#learn(options.endpoints)
  }

  attach(recipients: Map<string, Recipient>): void {
    this.#attached.push(recipients)
    for (const one of this.#recipients.values()) recipients.set(one.name, one)
  }

  freshen(): void {
    // What goes wrong is told to whoever waits for it: a plan, or an attempt without its endpoint.
    if (!this.#isFresh()) void this.#look().catch(() => {})
  }

  async send(effect: DeclareEffect, { tenant, key, type, timestamp, data }: WebhookPlan): Promise<void> {
    if (!this.#isFresh()) await this.#look()
    for (const { endpoint } of this.#known.values()) {
      if (endpoint.tenant !== tenant || !wants(endpoint, type)) continue
      effect(this.to(endpoint.id), { key, payload: { id: key, type, timestamp, data } })
    }
  }

  to(endpoint: string): EffectDefinition<WebhookPayload, false> {
    this.#recipientOf(endpoint)
    return this.#effects.get(endpoint)!
  }

  health(): ReadonlyMap<string, EndpointHealth> {
    return new Map([...this.#known].map(([id, { health }]) => [id, health]))
  }

  async switchOff(endpoint: string): Promise<void> {
    const { health } = await this.#find(endpoint)
    if (health.off === null)
      await this.#note(endpoint, { ...health, off: { at: this.#clock.now(), why: 'by-hand' } })
  }

  async resume(endpoint: string): Promise<void> {
    await this.#find(endpoint)
    await this.#note(endpoint, healthy)
  }

  async #find(id: string): Promise<KnownEndpoint> {
    if (!this.#known.has(id)) await this.#look()
    const known = this.#known.get(id)
    if (known === undefined)
      throw new CounterfoilError('not_found', `Webhooks '${this.name}' have no endpoint '${id}'.`)
    return known
  }

  #isFresh(): boolean {
    if (typeof this.#options.endpoints !== 'function') return true
    return this.#looked !== null && this.#clock.now() - this.#looked < this.#freshMs
  }

  /** One look at a time, which all who want one share. */
  async #look(): Promise<void> {
    const { endpoints } = this.#options
    if (typeof endpoints !== 'function') return
    this.#looking ??= (async () => {
      // Also after a failure: a table that cannot be read is not asked at every poll.
      this.#looked = this.#clock.now()
      try {
        this.#learn(await endpoints())
      } catch (error) {
        // The next plan asks again at once.
        this.#looked = null
        throw error
      } finally {
        this.#looking = undefined
      }
    })()
    await this.#looking
  }

  /** What is no longer there is not sent to; what waits for it stays in the ledger. */
  #learn(endpoints: readonly Endpoint[]): void {
    const next = endpoints.map((one) => knownEndpoint(one, this.#known.get(one.id)))
    this.#known.clear()
    for (const known of next) {
      this.#known.set(known.endpoint.id, known)
      this.#recipientOf(known.endpoint.id)
    }
  }

  #recipientOf(id: string): Recipient {
    const known = this.#recipients.get(id)
    if (known !== undefined) return known
    if (!endpointId.test(id))
      throw new CounterfoilError('config_invalid', `'${id.slice(0, 100)}' is no id of an endpoint.`)
    const {
      timeout = '20s',
      concurrency = 4,
      allowPrivateAddresses = false,
      body = 'standard',
    } = this.#options
    const made = recipient(`${this.name}/${id}`, {
      // Replaced below: it may change with every look at the table.
      url: 'https://endpoint.invalid',
      contract: this.contract,
      timeout,
      concurrency,
      allowPrivateAddresses,
      headers: ({ request }) => this.#headers(id, request),
    })
    Object.defineProperty(made, 'url', {
      get: () => this.#known.get(id)?.url ?? new URL('https://endpoint.invalid'),
    })
    Object.assign(made, {
      isOff: () => this.#known.get(id)?.health.off !== null,
      heard: (outcome: Outcome, attempt: number) => this.#heard(id, outcome, attempt),
    })
    const definition = made.effect('webhook.send', {
      payload: webhookSchema,
      request: (payload) => requestOf(body, payload),
    })
    this.#recipients.set(id, made)
    this.#effects.set(id, definition)
    for (const recipients of this.#attached) recipients.set(made.name, made)
    return made
  }

  /** Made anew for each attempt: the time, and what is signed with it. Id and body are those of every attempt. */
  #headers(id: string, { headers, body }: HeadersAbout['request']): Record<string, string> {
    const known = this.#known.get(id)
    if (known === undefined) throw new CounterfoilError('config_invalid', `There is no endpoint '${id}'.`)
    const seconds = Math.floor(this.#clock.now() / 1_000)
    const about = { id: headers['webhook-id']!, seconds, body: body ?? new Uint8Array() }
    return {
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatureHeader(known.signers, about),
    }
  }

  #heard(id: string, outcome: Outcome, attempt: number): Outcome {
    const known = this.#known.get(id)
    if (known === undefined) return outcome
    const health = healthAfter(known.health, outcome, this.#clock.now(), this.#offAfterMs)
    const wasSwitchedOff = health.off !== null && known.health.off === null
    if (isChange(known.health, health)) void this.#note(id, health).catch(() => {})
    else this.#known.set(id, { ...known, health })
    if (outcome.kind === 'confirmed') return outcome
    const { retryAfterMs = 0 } = outcome
    return {
      ...outcome,
      quietMs: retryAfterMs,
      retryAfterMs: Math.max(retryAfterMs, waitAfter(this.#schedule, attempt)),
      toldAsWhole: true,
      ...(wasSwitchedOff
        ? {
            alert: 'endpoint-switched-off',
            why: `${outcome.why}; endpoint ${id} is switched off (${health.off?.why})`,
          }
        : {}),
    }
  }

  /** Known at once, and told to the program's table; where that fails, the next change tells it again. */
  async #note(id: string, health: EndpointHealth): Promise<void> {
    const known = this.#known.get(id)
    if (known !== undefined) this.#known.set(id, { ...known, health })
    await this.#options.saveHealth?.(id, health)
  }
}
