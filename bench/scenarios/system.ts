/** What a system under comparison is: the same few questions for each, asked in processes of its own. */

/** An event as its producer means it. Each delivery of it has the same bytes. */
export interface Event {
  readonly id: string
  readonly type: 'invoice.paid' | 'payment.succeeded' | 'plan.changed' | 'invoice.archived' | 'invoice.broken'
  readonly data: EventData
}

export interface EventData {
  readonly invoice: string
  readonly customer: string
  readonly amount: number
  /** Rises with each change of the customer's plan. */
  readonly version: number
}

/** The one external operation that an event asks for: what a recipient is told as key and as name. */
export function operationOf({ type, data }: Event): string {
  if (type === 'plan.changed') return `customer/${data.customer}/plan/${data.version}`
  return `invoice/${data.invoice}/collect`
}

/** What the recipient promises. */
export interface Promises {
  /** How long it remembers keys, in ms; null: it takes none. */
  readonly keysMs: number | 'for ever' | null
  /** It can be asked what it did, by the name of the operation. */
  readonly lookup: boolean
  /** It compares versions and rejects an older one with 412. */
  readonly fence: boolean
}

/** All that differs between two runs of one system. */
export interface Setting {
  readonly promises: Promises
  readonly recipient: string
  /** What names a job, where a system lets its user choose: the event, or the operation that it asks for. */
  readonly jobIs: 'the event' | 'the operation'
  /** Where a system lets its user choose: whether a failed call is tried again (three tries) or not. */
  readonly retries: boolean
  /** Where a system lets its user choose: finished work is kept for `shortMs`, or for ever. */
  readonly keeps: 'for a time' | 'for ever'
  /** A lease, an expiry, the time-out of a function: whole seconds, and far more than a call takes. */
  readonly leaseMs: number
  /** How long a caller waits for the recipient. */
  readonly callTimeoutMs: number
  /** What the code that plans or works on `invoice.broken` does. */
  readonly poison: 'throws' | 'kills the process'
}

/** What is said in hours or days elsewhere is this long here, so that a run takes seconds. */
export const shortMs = 2_000
/** How long the recipient remembers keys where it forgets them; longer than a call may take. */
export const keyMs = 6_000

export interface System {
  readonly name: string
  /** Packages and what they keep their records in, with versions as installed. */
  readonly about: string
  /** The service ends a process that overran its time, so that a paused one never goes on. */
  readonly endsOverrun?: true
  /** An empty place for records: a directory, a database. */
  place(setting: Omit<Setting, 'recipient'>): Promise<Place>
  /** In a worker process. @param as names the process to the system; a replacement has the name of what it replaces */
  open(setting: Setting, at: string, as: string, beforeCall: () => Promise<void>): Promise<Opened>
  /** The records, read by a process that does no work: for one whose workers do not stay alive. */
  look?(setting: Setting, at: string): Promise<readonly SystemRecord[]>
}

export interface Place {
  readonly at: string
  drop(): Promise<void>
}

export interface Opened {
  /** Hands an event over. Fulfils when that is durable. @returns what the caller was told, in a word or two */
  deliver(event: Event): Promise<string>
  /** What the system can tell of all it was given. */
  records(): Promise<readonly SystemRecord[]>
  /** What its documentation has an operator, or a supervisor of processes, do for one that died. */
  afterDeath?(): Promise<void>
  /** Lets a lease end that cannot be set short. */
  leaseEnds?(): Promise<void>
  /** Removes what is finished and older than `shortMs`, where that has to be asked for. */
  forget?(): Promise<void>
}

export interface SystemRecord {
  /** What the record says of the outside world. `acted before`: a repeat was told so. `open`: it will be tried again. */
  readonly says: 'acted' | 'acted before' | 'failed' | 'unknown' | 'open' | 'set aside'
  /** The system's own words. */
  readonly words: string
  /** Everything that the record holds, as text: which events and payloads can be found in it. */
  readonly holds: string
}
