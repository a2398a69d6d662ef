import { backfillName, type Counterfoil, type SequenceOptions } from '../counterfoil.ts'
import {
  addCounts,
  type BackfillCounts,
  type BackfillFigure,
  CounterfoilError,
  canonicalize,
  InputDigest,
  type Instant,
  noCounts,
  readJson,
  readPointer,
} from '../domain/index.ts'
import { type BackfillIntake, type BackfillItem, type Interpreted, sourceAt } from '../intake/index.ts'
import {
  type BackfillChunk,
  type BackfillFault,
  type BackfillGaps,
  type BackfillPlan,
  type BackfillSource,
  type BackfillView,
  type FirstOf,
  figureOfReason,
} from '../store/index.ts'
import { stateRefused } from './backfill.ts'
import { chunksOf, type FoundChunk } from './backfill-chunks.ts'
import { Seen } from './backfill-seen.ts'
import { authorise, type Operator } from './operator.ts'

export interface PlanRequest {
  readonly name: string
  /** A file or a directory. Default: what the configuration has under this name. */
  readonly from?: string
  /** Needed with `from` where the configuration has none. */
  readonly producer?: string
  readonly sequence?: SequenceOptions
}

/** Faults, gaps and ids that a plan shows of each kind; all of them are counted. */
export const maxShown = 50
const receiptsPage = 1_000
/** Clocks of producer and receiver may differ by so much. */
const clockMarginMs = 86_400_000

/**
 * Looks through a whole source, a chunk at a time, and keeps what it finds under a name; nothing is taken in.
 *
 * @throws CounterfoilError `not_authorised`, `usage_invalid`, `not_found`, `backfill_state`, `backfill_unreadable`
 */
export async function planBackfill(
  app: Counterfoil,
  operator: Operator,
  request: PlanRequest,
  onProgress: (items: number) => void = () => {},
): Promise<BackfillView> {
  authorise(operator, 'backfill.plan')
  const { name } = request
  if (!backfillName.test(name)) {
    throw new CounterfoilError('usage_invalid', `'${name.slice(0, 100)}' is no name of a backfill.`, {
      hint: 'Give 1 to 100 letters, digits or . _ -',
    })
  }
  const known = await app.store.showBackfill(name)
  if (known !== null && known.state !== 'planned' && known.state !== 'approved')
    throw stateRefused(known, 'planned')
  const { producer, source, sequence } = await asked(app, request)
  const intake = app.backfillIntake({ name, producer, source })
  const { boundary } = await app.store.retention()
  using survey = new Survey(app, intake, { name, producer, source, sequence }, boundary)
  for await (const found of chunksOf(intake)) {
    await survey.add(found)
    onProgress(survey.items)
  }
  const planned = await app.store.planBackfill(await survey.finish(operator.name))
  if (planned.kind === 'refused') throw stateRefused(planned.backfill, 'planned')
  return planned.backfill
}

interface Asked {
  readonly name: string
  readonly producer: string
  readonly source: BackfillSource
  readonly sequence: SequenceOptions | undefined
}

async function asked(app: Counterfoil, request: PlanRequest): Promise<Omit<Asked, 'name'>> {
  const configured = app.backfills.get(request.name)
  const producer = request.producer ?? configured?.producer.name
  const from = request.from ?? configured?.source
  if (producer === undefined || from === undefined) {
    throw new CounterfoilError('usage_invalid', `The configuration has no backfill '${request.name}'.`, {
      hint: 'Give --from FILE or DIRECTORY, and --producer NAME.',
    })
  }
  const source: BackfillSource =
    typeof from === 'string' ? await sourceAt(from) : { kind: 'listed', until: app.clock.now() }
  return { producer, source, sequence: request.sequence ?? configured?.sequence }
}

/** What is found, kept small: figures, digests, and the first of each kind of fault and gap. */
class Survey {
  items = 0
  readonly #app: Counterfoil
  readonly #intake: BackfillIntake
  readonly #asked: Asked
  readonly #seen = new Seen()
  /** Events from before it whose identity nobody knows are never processed. */
  readonly #boundary: Instant | null
  readonly #chunks: BackfillChunk[] = []
  readonly #faults = new Sampling<BackfillFault>()
  readonly #lacking = new Sampling<string>()
  readonly #digest: InputDigest
  #counts: BackfillCounts = noCounts
  #from: Instant | null = null
  #to: Instant | null = null

  constructor(app: Counterfoil, intake: BackfillIntake, about: Asked, boundary: Instant | null) {
    this.#boundary = boundary
    this.#app = app
    this.#intake = intake
    this.#asked = about
    const { name, producer, source } = about
    this.#digest = new InputDigest(canonicalize({ name, producer, source: source.kind }))
  }

  async add({ chunk, items }: FoundChunk): Promise<void> {
    this.#chunks.push(chunk)
    this.#digest.add(chunk.digest)
    this.items += items.length
    const events: Interpreted[] = []
    for (const item of items) events.push(...(await this.#read(item)))
    const known = await this.#app.store.knownDeliveries(
      events.map(({ receipt: { eventId, delivery, fingerprint } }) => ({ eventId, delivery, fingerprint })),
    )
    this.#count(events.map((event, index) => this.#figure(event, known[index]!)))
  }

  async finish(by: string): Promise<{ name: string; plan: BackfillPlan; chunks: readonly BackfillChunk[] }> {
    const { name, producer, source } = this.#asked
    const plan = {
      producer,
      source,
      at: this.#app.clock.now(),
      by,
      digest: this.#digest.finish(),
      items: this.items,
      chunks: this.#chunks.length,
      counts: this.#counts,
      faults: this.#faults.sample(),
      gaps: await this.#gaps(),
    }
    return { name, plan, chunks: this.#chunks }
  }

  [Symbol.dispose](): void {
    this.#seen[Symbol.dispose]()
  }

  async #read(item: BackfillItem): Promise<readonly Interpreted[]> {
    const read = await this.#intake.read(item)
    if (read.kind === 'events') return read.events
    this.#count([read.figure])
    this.#faults.add({ place: item.place, figure: read.figure, why: read.why })
    return []
  }

  #figure(event: Interpreted, stored: Parameters<Seen['add']>[2]): BackfillFigure {
    const { delivery, fingerprint, eventId, eventAt } = event.receipt
    this.#number(event)
    if (eventAt !== null) {
      this.#from = Math.min(this.#from ?? eventAt, eventAt)
      this.#to = Math.max(this.#to ?? eventAt, eventAt)
    }
    const known = this.#seen.add(delivery, fingerprint, stored)
    if (known !== 'new') return known
    this.#lacking.add(eventId)
    if (eventAt !== null && this.#boundary !== null && eventAt < this.#boundary) return 'beyondRetention'
    return event.fit.kind === 'fits' ? 'new' : figureOfReason(event.fit.reason)
  }

  #count(figures: Iterable<BackfillFigure>): void {
    this.#counts = addCounts(this.#counts, figures)
  }

  #number({ body }: Interpreted): void {
    const { sequence } = this.#asked
    if (sequence === undefined) return
    const reading = readJson(body, { numbers: 'lossless' })
    if (reading.kind !== 'read') return
    const number = readPointer(reading.value, sequence.pointer)
    const text = typeof number === 'number' || typeof number === 'bigint' ? String(number) : number
    // What SQLite keeps as a whole number.
    if (typeof text !== 'string' || !/^-?\d{1,18}$/.test(text)) return
    const within = sequence.within === undefined ? '' : readPointer(reading.value, sequence.within)
    this.#seen.addNumber(String(within ?? ''), BigInt(text))
  }

  async #gaps(): Promise<BackfillGaps> {
    const holes = new Sampling<{ within: string; from: string; to: string }>()
    for (const hole of this.#seen.holes()) holes.add(hole)
    return {
      lacking: this.#lacking.sample(),
      unlisted: await this.#unlisted(),
      holes: this.#asked.sequence === undefined ? null : holes.sample(),
      from: this.#from,
      to: this.#to,
    }
  }

  /** Newest first: what was received before the span began happened before it. */
  async #unlisted(): Promise<FirstOf<string>> {
    const found = new Sampling<string>()
    const [from, to] = [this.#from, this.#to]
    if (from === null || to === null) return found.sample()
    const { producer } = this.#asked
    for (let before: string | undefined; ; ) {
      const place = before === undefined ? {} : { before }
      const receipts = await this.#app.store.listReceipts({ producer, limit: receiptsPage, ...place })
      for (const { eventAt, conflictsWith, delivery, eventId } of receipts) {
        const isWithin = eventAt !== null && eventAt >= from && eventAt <= to && conflictsWith === null
        if (isWithin && !this.#seen.has(delivery)) found.add(eventId)
      }
      const last = receipts.at(-1)
      if (receipts.length < receiptsPage || last === undefined) return found.sample()
      if (last.receivedAt < from - clockMarginMs) return found.sample()
      before = last.id
    }
  }
}

class Sampling<Value> {
  #count = 0
  readonly #first: Value[] = []

  add(value: Value): void {
    this.#count++
    if (this.#first.length < maxShown) this.#first.push(value)
  }

  sample(): FirstOf<Value> {
    return { count: this.#count, first: this.#first }
  }
}
