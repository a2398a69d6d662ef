import type { Counterfoil } from 'counterfoil'
import {
  type Delivery,
  githubDelivery,
  openedIssue,
  realDeliveries,
  standardDelivery,
  stripeDelivery,
} from './deliveries.ts'
import { bold, faint, say, step } from './say.ts'

/** What was answered, by outcome, over the whole demo. */
export type Answers = Map<string, number>

interface Answer {
  readonly status: number
  readonly receipt?: string
  readonly outcome?: string
}

/** Sends what producers send, well and badly, to a server that runs, and watches the ledger through the same store. */
export class Driver {
  readonly answers: Answers = new Map()
  /** Keys of effects that were seen unknown. */
  readonly seenUnknown = new Map<string, string>()
  readonly #url: string
  readonly #recipientUrl: string
  readonly #app: Counterfoil
  /** Makes numbers that no earlier run used, so that there is something new to see each time. */
  readonly #run = Math.floor(Date.now() / 1000)

  constructor(app: Counterfoil, url: string, recipientUrl: string) {
    this.#app = app
    this.#url = url
    this.#recipientUrl = recipientUrl
  }

  async run(): Promise<void> {
    const real = realDeliveries()
    step(`${real.length} real GitHub events, each delivered twice`)
    for (const _ of [1, 2]) await this.#sendAll(real)
    await this.#quiet()

    step('One event, 64 copies at once')
    const raced = this.#issue(1, 'Everybody reports this at the same moment')
    await this.#sendAll(Array.from({ length: 64 }, () => raced))

    step('Business events: Standard Webhooks and Stripe')
    const run = this.#run
    await this.#sendAll([
      standardDelivery(`msg_${run}_1`, 'invoice.paid', { id: `inv_${run}`, amount: 4200, currency: 'eur' }),
      standardDelivery(`msg_${run}_2`, 'user.created', { id: `usr_${run}`, plan: 'pro' }),
      stripeDelivery(`evt_${run}_1`, 'payment_intent.succeeded', {
        id: `pi_${run}`,
        amount: 1999,
        currency: 'usd',
      }),
      stripeDelivery(`evt_${run}_2`, 'charge.refunded', { id: `ch_${run}`, amount_refunded: 500 }),
    ])

    step('Deliveries that must not start work')
    await this.#misfits()
    await this.#quiet()

    step('Now the recipient acts, and its answers get lost, come late, or say 500')
    await this.#trouble()
  }

  async #misfits(): Promise<void> {
    const good = this.#issue(2, 'A printer that prints twice')
    await this.#send(good)
    await this.#quiet()
    const told = async (what: string, delivery: Delivery) => {
      const { status, outcome } = await this.#send(delivery)
      say(`  ${what.padEnd(58)} ${status} ${outcome ?? 'refused, nothing stored'}`)
    }
    await told('a body that was tampered with', { ...good, body: `${good.body} ` })
    await told(
      'an authentic type that nobody handles',
      githubDelivery('gollum', `demo-${this.#run}-wiki`, { pages: [] }),
    )
    await told('the same delivery id with another body', this.#issue(2, 'Another title'))
    await told('the same signed body under another delivery id', {
      ...good,
      headers: { ...good.headers, 'x-github-delivery': `demo-${this.#run}-replayed` },
    })
    await told(
      'the same issue opened again, with another title',
      githubDelivery('issues', `demo-${this.#run}-again`, openedIssue(this.#run * 10 + 2, 'Changed')),
    )
    say(
      faint(
        '  the last one plans a key that is taken, with another payload: quarantined with both fingerprints',
      ),
    )
  }

  async #trouble(): Promise<void> {
    await fetch(`${this.#recipientUrl}/control`, {
      method: 'POST',
      body: JSON.stringify({ lose: 3, late: 2, fail: 2 }),
    })
    await this.#sendAll([3, 4, 5, 6, 7, 8, 9].map((n) => this.#issue(n, `Trouble number ${n - 2}`)))
    await this.#quiet()
  }

  #issue(n: number, title: string): Delivery {
    return githubDelivery('issues', `demo-${this.#run}-${n}`, openedIssue(this.#run * 10 + n, title))
  }

  async #sendAll(deliveries: readonly Delivery[]): Promise<void> {
    const before = new Map(this.answers)
    await Promise.all(deliveries.map((delivery) => this.#send(delivery)))
    const counts = [...this.answers].map(
      ([outcome, count]) => [outcome, count - (before.get(outcome) ?? 0)] as const,
    )
    say(
      `  answered: ${counts
        .filter(([, count]) => count > 0)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', ')}`,
    )
  }

  async #send({ producer, headers, body }: Delivery): Promise<Answer> {
    const response = await fetch(`${this.#url}/in/${producer}`, { method: 'POST', headers, body })
    const answer = { ...((await response.json()) as Omit<Answer, 'status'>), status: response.status }
    const outcome = answer.outcome ?? `refused (${response.status})`
    this.answers.set(outcome, (this.answers.get(outcome) ?? 0) + 1)
    return answer
  }

  /** Watches until nothing is planned, attempting or unknown, and tells of each effect that becomes unknown and what became of it. */
  async #quiet(): Promise<void> {
    const { store } = this.#app
    for (let tries = 0; ; tries++) {
      for (const effect of await store.listEffects({ limit: 50, state: 'unknown' })) {
        if (this.seenUnknown.has(effect.id)) continue
        this.seenUnknown.set(effect.id, effect.key)
        say(`  ${bold('unknown')}     ${effect.key}  ${faint(effect.attempts.at(-1)?.why ?? '')}`)
      }
      const { outbox, effects } = await store.status()
      const { planned, attempting, unknown } = effects.byState
      if (outbox.waiting + planned + attempting + unknown === 0) break
      if (tries > 1_200) throw new Error('the ledger did not become quiet within two minutes')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    for (const [id, key] of this.seenUnknown) await this.#tellEnd(id, key)
  }

  readonly #told = new Set<string>()

  async #tellEnd(id: string, key: string): Promise<void> {
    if (this.#told.has(id)) return
    this.#told.add(id)
    const [story] = await this.#app.store.showEffects(id)
    const by = story?.effect.evidence.at(-1)
    say(
      `  ${bold('reconciled')}  ${key}  ${by?.kind ?? 'a repeat'}: ${by?.why ?? 'the same request under the same key'}; ${story?.effect.state}`,
    )
  }
}
