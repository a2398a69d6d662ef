import type { StandardSchemaV1 } from '@standard-schema/spec'
import { CounterfoilError, checkIdentityPart, type Duration, milliseconds } from '../domain/index.ts'
import type { ProducerKind } from './producer-kind.ts'
import type { Rate } from './rate-limit.ts'
import { mayMeet, type Upcast } from './schema-version.ts'

export type { Delivery } from './delivery.ts'
export type { KeyRequest, KeySource } from './key-source.ts'
export type {
  EventFacts,
  OfflineKind,
  OwnAnswer,
  OwnAnswers,
  ProducerFacts,
  ProducerKind,
  Verification,
} from './producer-kind.ts'

/** Limits and settings of a producer, whatever its kind. */
export interface ProducerOptions {
  /** Who looks after this producer's quarantine. Default: the configuration's owner. */
  readonly owner?: string
  /** Largest body in bytes. Default: what the producer documents, else 1 MiB. */
  readonly maxBytes?: number
  /** From the first byte read to the last. Default `10s`. */
  readonly maxReadTime?: Duration
  /** `lossless`: whole numbers beyond 2^53 become bigint instead of quarantine. Default `double`. */
  readonly numbers?: 'double' | 'lossless'
  /**
   * The address that senders use, where a proxy stands before this process: `https://hooks.example.com/in/square`.
   * Without a query. Kinds that sign the URL need it: one put together from headers is the sender's choice.
   */
  readonly publicUrl?: string
  /** How many deliveries may come; more get 429, and are told when. Default: no limit. */
  readonly rate?: Rate
}

/** An authenticated source of events, as `producer()` makes it; its name is its namespace. */
export interface Producer {
  /** Route and namespace: `stripe/acct_1` receives at `POST /in/stripe/acct_1`. */
  readonly name: string
  readonly kind: ProducerKind
  readonly owner: string | undefined
  readonly maxBytes: number
  readonly maxReadMs: number
  readonly numbers: 'double' | 'lossless'
  readonly publicUrl: string | undefined
  readonly rate: Rate | undefined
  /**
   * Names a type of event, so that triggers can subscribe to it.
   *
   * @param about.version one schema version; without it the type is read in every version
   * @param about.upcast how older versions become that one, so that triggers see one only
   * @throws CounterfoilError `config_invalid` when the steps lead nowhere or meet
   */
  event<Schema extends StandardSchemaV1 = StandardSchemaV1<unknown, any>>(
    type: string,
    about?: {
      readonly version?: string
      readonly schema?: Schema
      readonly upcast?: Upcast | readonly Upcast[]
    },
  ): EventType<StandardSchemaV1.InferOutput<Schema>>
}

/** A type of event at a producer: what a trigger's `on` takes. */
export interface EventType<Data = unknown> {
  readonly producer: Producer
  readonly type: string
  /** Absent: events of every schema version. */
  readonly version: string | undefined
  readonly schema: StandardSchemaV1<unknown, Data> | undefined
  readonly upcast: readonly Upcast[]
}

/**
 * An authenticated source of events.
 *
 * @param name route and namespace, for ever: receipts are identified inside it
 * @throws CounterfoilError `config_invalid`
 */
export function producer(name: string, kind: ProducerKind, options: ProducerOptions = {}): Producer {
  const maxBytes = options.maxBytes ?? kind.maxBytes
  const maxReadMs = milliseconds(options.maxReadTime ?? '10s')
  if (!isRoute(name)) {
    throw invalid(
      `'${name}' is no producer name.`,
      'It becomes the route POST /in/NAME: words of letters, digits and . _ ~ - with / between them.',
    )
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw invalid(`Producer '${name}': maxBytes is ${maxBytes}.`, 'Give a positive whole number of bytes.')
  }
  if (maxReadMs === 0) {
    throw invalid(`Producer '${name}': maxReadTime is 0.`, "Give a time such as '10s'.")
  }
  checkPublicUrl(name, kind, options.publicUrl)
  const self: Producer = {
    name,
    kind,
    owner: options.owner,
    maxBytes,
    maxReadMs,
    numbers: options.numbers ?? 'double',
    publicUrl: options.publicUrl,
    rate: checkedRate(name, options.rate),
    event: (type, about = {}) => ({
      producer: self,
      type,
      version: about.version,
      schema: about.schema as never,
      upcast: checkedSteps(type, about),
    }),
  }
  return self
}

function checkedSteps(
  type: string,
  { version, upcast = [] }: { readonly version?: string; readonly upcast?: Upcast | readonly Upcast[] },
): readonly Upcast[] {
  const steps = 'from' in upcast ? [upcast] : [...upcast]
  if (steps.length > 0 && version === undefined) {
    throw invalid(`'${type}' is up-cast to no version.`, 'Give the version that the last step makes.')
  }
  const versions = [version, ...steps.map(({ from }) => from)]
  if (new Set(versions).size !== versions.length) {
    throw invalid(
      `'${type}' is up-cast from one version twice, or from its own.`,
      'Give one step for each older version.',
    )
  }
  return steps
}

function checkedRate(name: string, rate: Rate | undefined): Rate | undefined {
  if (rate === undefined) return undefined
  const { perSecond, burst = 1 } = rate
  if (Number.isFinite(perSecond) && perSecond > 0 && Number.isFinite(burst) && burst >= 1) return { ...rate }
  throw invalid(
    `Producer '${name}': the rate is ${perSecond} a second, in bursts of ${burst}.`,
    'Give a positive number a second, and bursts of at least 1.',
  )
}

function checkPublicUrl(name: string, kind: ProducerKind, publicUrl: string | undefined): void {
  if (publicUrl === undefined) {
    if (kind.signsUrl !== true) return
    throw invalid(
      `Producer '${name}': ${kind.kind} signs the URL, and publicUrl is not set.`,
      'Give the address exactly as it is configured at the producer.',
    )
  }
  const url = URL.parse(publicUrl)
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(publicUrl)) {
    throw invalid(
      `Producer '${name}': publicUrl is no http or https address, or has a query.`,
      `Give it as senders use it, such as https://hooks.example.com/in/${name}.`,
    )
  }
}

/** What a URL's path holds unescaped and unchanged: no empty segment, and none of the two that move upwards. */
function isRoute(name: string): boolean {
  if (checkIdentityPart(name) !== undefined) return false
  return name.split('/').every((segment) => /^[A-Za-z0-9._~-]+$/.test(segment) && !/^\.{1,2}$/.test(segment))
}

/** Subscribed types, by producer and type. */
export type EventTypes = ReadonlyMap<string, ReadonlyMap<string, readonly EventType[]>>

/**
 * An event is fitted once, and all its triggers get the same data; so one type, in one version, has one schema.
 *
 * @throws CounterfoilError `config_invalid` when two that can meet the same event differ
 */
export function eventTypes(subscribed: readonly EventType[]): EventTypes {
  const types = new Map<string, Map<string, EventType[]>>()
  for (const type of subscribed) {
    const ofProducer = types.get(type.producer.name) ?? new Map<string, EventType[]>()
    types.set(type.producer.name, ofProducer)
    const known = ofProducer.get(type.type) ?? []
    ofProducer.set(type.type, known)
    if (known.some((other) => mayMeet(type, other) && !readsAlike(type, other))) {
      throw invalid(
        `Two triggers read '${type.type}' of producer '${type.producer.name}' through different schemas or up-casts.`,
        'Call event() once and give its value to both: they get the same data.',
      )
    }
    if (!known.some((other) => other.version === type.version)) known.push(type)
  }
  return types
}

/** Whether both hand the same data to their triggers. */
function readsAlike(one: EventType, other: EventType): boolean {
  if (one.schema !== other.schema) return false
  return one.upcast === other.upcast || (one.upcast.length === 0 && other.upcast.length === 0)
}

function invalid(message: string, hint: string): CounterfoilError {
  return new CounterfoilError('config_invalid', message, { hint })
}
