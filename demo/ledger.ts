import type { Counterfoil, Store } from 'counterfoil'

export type Effect = Awaited<ReturnType<Store['listEffects']>>[number]
export type Entry = Awaited<ReturnType<Store['listQuarantine']>>['entries'][number]

const pageSize = 500

/** The ledger of the demo, read through a second handle on the file that the server writes. */
export class Ledger {
  readonly #store: Store
  /** Milliseconds since the epoch: what is older belongs to an earlier run. */
  readonly since: number

  constructor({ store }: Counterfoil, since: number) {
    this.#store = store
    this.since = since
  }

  status() {
    return this.#store.status()
  }

  /** Receipts and alerts that wait, and effects that are not final. */
  async open(): Promise<number> {
    const { outbox, effects } = await this.#store.status()
    const { planned, attempting, unknown } = effects.byState
    return outbox.waiting + planned + attempting + unknown
  }

  effects(): Promise<Effect[]> {
    return pages(
      (page) => this.#store.listEffects(page),
      (effect) => effect.plannedAt >= this.since,
    )
  }

  allEffects(): Promise<Effect[]> {
    return pages(
      (page) => this.#store.listEffects(page),
      () => true,
    )
  }

  quarantine(): Promise<Entry[]> {
    return pages(
      async (page) => (await this.#store.listQuarantine(page)).entries,
      (entry) => entry.at >= this.since,
    )
  }

  /** Keys of the effects that a receipt caused; empty before it was planned. */
  async effectsOf(receipt: string): Promise<readonly string[]> {
    const story = await this.#store.showReceipt(receipt)
    return (story?.effects ?? []).map(({ key }) => key)
  }
}

/** Page after page, newest first, as long as `wanted` holds. */
async function pages<Row extends { readonly id: string }>(
  list: (page: { limit: number; before?: string }) => Promise<readonly Row[]>,
  wanted: (row: Row) => boolean,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let before: string | undefined; ; before = rows.at(-1)?.id) {
    const page = await list({ limit: pageSize, ...(before === undefined ? {} : { before }) })
    const fresh = page.filter(wanted)
    rows.push(...fresh)
    if (page.length < pageSize || fresh.length < page.length) return rows
  }
}
