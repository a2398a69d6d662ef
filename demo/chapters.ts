import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { differentExamples, type Example, examplesOf } from './examples.ts'
import type { Ledger } from './ledger.ts'
import type { Fault } from './recipient-faults.ts'
import { chapter, counted, faint, many, progress, say } from './say.ts'
import {
  type Answer,
  type Delivery,
  gitHubDelivery,
  send,
  standardDelivery,
  stripeDelivery,
} from './senders.ts'
import { shortKey, Watcher } from './watcher.ts'
import { misbehave } from './workshop-client.ts'

interface Setting {
  readonly server: string
  readonly workshop: string
  readonly ledger: Ledger
}

/** Senders at work at the same time. */
const senders = 8

/** The demo's story, chapter by chapter. */
export class Chapters {
  /** Every answer of the server, counted. */
  readonly answers = new Map<string, number>()
  readonly #setting: Setting
  readonly #watcher: Watcher
  /** Sets the operations of this run apart from those of an earlier one. */
  readonly #run: string
  readonly #examples: Example[]

  private constructor(setting: Setting, run: string) {
    this.#setting = setting
    this.#watcher = new Watcher(setting.ledger, setting.workshop)
    this.#run = run
    this.#examples = differentExamples((repository) => repository + run)
  }

  static async begin(setting: Setting): Promise<Chapters> {
    const { receipts } = await setting.ledger.status()
    if (receipts.total === 0) return new Chapters(setting, '')
    const run = `-${new Date(setting.ledger.since).toISOString().replace(/\D/g, '').slice(0, 14)}`
    say(faint(`The ledger holds ${many(receipts.total, 'receipt')} already, and keeps them.`))
    say(faint(`So that there is something new to do, this run's repositories end in ${run}.`))
    return new Chapters(setting, run)
  }

  async tell(): Promise<void> {
    await this.#deliveredTwice()
    await this.#races()
    await this.#shop()
    await this.#mustNotStartWork()
    await this.#oneByOne()
    await this.#allAtOnce()
  }

  async #deliveredTwice(): Promise<void> {
    const examples = this.#examples.splice(0, this.#examples.length - 27)
    chapter(`1. ${examples.length} real GitHub webhooks, each of them delivered twice or more`)
    const deliveries = await Promise.all(examples.map(asDelivery))
    const repeated = deliveries.flatMap((delivery, index) => Array(index % 5 === 0 ? 3 : 2).fill(delivery))
    await this.#sendAll(repeated)
    await this.#watcher.untilQuiet()
  }

  async #races(): Promise<void> {
    chapter('2. Races: copies of one delivery, all at the same time')
    for (const copies of [16, 32, 64]) {
      const example = this.#next()
      const delivery = await asDelivery(example)
      const answers = await Promise.all(Array.from({ length: copies }, () => this.#send(delivery)))
      const receipts = new Set(answers.map(({ receipt }) => receipt)).size
      say(
        `  ${copies} × ${shortKey(example.reference)}: ${tallied(answers)} → ${many(receipts, 'receipt')}, one effect`,
      )
    }
    await this.#watcher.untilQuiet()
  }

  async #shop(): Promise<void> {
    chapter('3. Standard Webhooks and Stripe events, each of them delivered twice')
    const name = (kind: string) => `${kind}_demo${this.#run.replace('-', '_')}`
    const deliveries = [
      standardDelivery(name('msg_1'), 'invoice.paid', { id: name('inv'), amount: 4900, currency: 'eur' }),
      standardDelivery(name('msg_2'), 'order.created', { id: name('order'), total: '18.50' }),
      standardDelivery(name('msg_3'), 'order.paid', { id: name('order'), total: '18.50', currency: 'eur' }),
      standardDelivery(name('msg_4'), 'user.created', { id: name('user') }),
      standardDelivery(name('msg_5'), 'user.updated', {
        id: name('user'),
        updated_at: '2026-12-01T09:30:00Z',
      }),
      stripeDelivery(name('evt_1'), 'customer.created', { id: name('cus'), object: 'customer' }),
      stripeDelivery(name('evt_2'), 'payment_intent.succeeded', {
        id: name('pi'),
        object: 'payment_intent',
        amount_received: 1999,
        currency: 'usd',
      }),
      stripeDelivery(name('evt_3'), 'invoice.paid', { id: name('in'), amount_paid: 1999, currency: 'usd' }),
      stripeDelivery(name('evt_4'), 'charge.refunded', {
        id: name('ch'),
        amount: 1999,
        amount_refunded: 500,
        currency: 'usd',
      }),
    ]
    await this.#sendAll(deliveries.flatMap((delivery) => [delivery, delivery]))
    await this.#watcher.untilQuiet()
  }

  async #mustNotStartWork(): Promise<void> {
    chapter('4. Deliveries that must not start work')
    const { payload } = this.#next('issues')
    const opened = {
      ...payload,
      action: 'opened',
      issue: { ...payload.issue, number: 4840, title: 'The printer prints twice' },
    }
    const retitled = { ...opened, issue: { ...opened.issue, title: 'The printer prints three times' } }
    const id = randomUUID()
    const first = await gitHubDelivery('issues', id, opened)
    await this.#tell('an issue is opened', first)
    await this.#tell('its body, changed on the way', { ...first, body: first.body.replace('twice', 'never') })
    const closed = { ...opened, action: 'closed' }
    await this.#tell('its id again, signed, with another body', await gitHubDelivery('issues', id, closed))
    const { headers } = first
    await this.#tell('its body again, under another id', {
      ...first,
      headers: { ...headers, 'x-github-delivery': randomUUID() },
    })
    const [wiki] = examplesOf('gollum')
    await this.#tell('a type that no trigger takes', await gitHubDelivery('gollum', randomUUID(), wiki))
    await this.#watcher.untilQuiet()
    await this.#tell(
      'the same issue, opened with another title',
      await gitHubDelivery('issues', randomUUID(), retitled),
    )
    await this.#watcher.untilQuiet()
    const conflict = (await this.#setting.ledger.quarantine()).find(
      ({ reason }) => reason === 'effect-conflict',
    )
    if (conflict === undefined) throw new Error('The other title was not quarantined.')
    const { existing, planned } = conflict.detail as { existing: string; planned: string }
    say(
      faint(
        '      It plans a key that is taken, with another payload: nothing leaves, and an owner decides.',
      ),
    )
    say(faint(`      ${existing}  is in the ledger`))
    say(faint(`      ${planned}  was planned now: quarantined as effect-conflict`))
  }

  async #oneByOne(): Promise<void> {
    chapter('5. The workshop goes wrong, one way at a time')
    say(faint('  From outside all four look alike, so none is taken for a failure: the effect is unknown.'))
    const ways: readonly (readonly [Fault, string])[] = [
      ['lose', 'It acts, and its answer never comes:'],
      ['late', 'It acts, and answers when nobody waits any more:'],
      ['fail', 'It acts, and answers 500:'],
      ['drop', 'It does not act, and does not answer:'],
    ]
    for (const [fault, told] of ways) {
      say(`  ${told}`)
      await misbehave(this.#setting.workshop, { [fault]: 1 })
      await this.#send(await asDelivery(this.#next()))
      await this.#watcher.untilQuiet()
    }
  }

  async #allAtOnce(): Promise<void> {
    const examples = this.#examples.splice(0)
    chapter(`6. ${examples.length} more webhooks, and the workshop goes wrong in all ways at once`)
    await misbehave(this.#setting.workshop, { lose: 3, late: 3, fail: 3, drop: 2 })
    const deliveries = await Promise.all(examples.map(asDelivery))
    await this.#sendAll(deliveries.flatMap((delivery) => [delivery, delivery]))
    await this.#watcher.untilQuiet()
  }

  async #sendAll(deliveries: readonly Delivery[]): Promise<void> {
    const waiting = [...deliveries]
    const answers: Answer[] = []
    const work = async () => {
      for (let delivery = waiting.shift(); delivery !== undefined; delivery = waiting.shift()) {
        answers.push(await this.#send(delivery))
        progress(answers.length, deliveries.length)
        // At a pace that can be watched.
        if (process.stdout.isTTY) await pause(20)
      }
    }
    await Promise.all(Array.from({ length: senders }, work))
    say(`  ${deliveries.length} deliveries: ${tallied(answers)}`)
  }

  async #tell(what: string, delivery: Delivery): Promise<void> {
    const answer = await this.#send(delivery)
    const more =
      answer.code ??
      answer.reason ??
      (answer.sameContentAs ? 'reported: same content as an earlier receipt' : '')
    say(
      `  ${what.padEnd(44)} ${answer.status} ${answer.outcome ?? 'refused, nothing stored'}  ${faint(more)}`,
    )
  }

  async #send(delivery: Delivery): Promise<Answer> {
    const answer = await send(this.#setting.server, delivery)
    const name = nameOf(answer)
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1)
    return answer
  }

  #next(type?: string): Example {
    const index = type === undefined ? 0 : this.#examples.findIndex((example) => example.type === type)
    const [example] = this.#examples.splice(index, 1)
    if (example === undefined) throw new Error('There are not enough example payloads.')
    return example
  }
}

function asDelivery({ type, payload }: Example): Promise<Delivery> {
  return gitHubDelivery(type, randomUUID(), payload)
}

function nameOf({ status, outcome, code }: Answer): string {
  return outcome ?? `refused (${status} ${code})`
}

function tallied(answers: readonly Answer[]): string {
  const byName = Map.groupBy(answers, nameOf)
  return counted([...byName].map(([name, list]) => [name, list.length] as const))
}
