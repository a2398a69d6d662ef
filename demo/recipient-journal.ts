import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** One thing that the workshop did, and the answer that it owes to whoever asks again. */
export interface Act {
  readonly at: string
  /** The idempotency key that the request carried. */
  readonly key: string
  /** SHA-256 of method, path and body: what "the same request" means. */
  readonly request: string
  /** What the request itself calls the operation; another way to see that something was done twice. */
  readonly reference: string | null
  readonly operation: string
}

/**
 * What the workshop did, in a file: one JSON line an act, on disk before anyone is answered. So a workshop that
 * was killed knows the same keys when it is started again.
 */
export class Journal {
  readonly #file: number
  readonly #byKey = new Map<string, Act>()
  readonly #actsByKey = new Map<string, number>()
  readonly #actsByReference = new Map<string, number>()
  total = 0

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true })
    const path = join(directory, 'workshop.jsonl')
    this.#file = openSync(path, 'a+')
    const text = readFileSync(path, 'utf8')
    // What stands behind the last line end was being written when the workshop died: nobody was answered.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    if (whole !== text) ftruncateSync(this.#file, Buffer.byteLength(whole))
    for (const line of whole.split('\n')) if (line !== '') this.#count(JSON.parse(line) as Act)
  }

  find(key: string): Act | undefined {
    return this.#byKey.get(key)
  }

  /** Acts: on return it is on disk. One synchronous step, so that no lookup can see it half done. */
  append(act: Act): void {
    writeSync(this.#file, `${JSON.stringify(act)}\n`)
    fsyncSync(this.#file)
    this.#count(act)
  }

  counts(): { total: number; byKey: Record<string, number>; byReference: Record<string, number> } {
    return {
      total: this.total,
      byKey: Object.fromEntries(this.#actsByKey),
      byReference: Object.fromEntries(this.#actsByReference),
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  #count(act: Act): void {
    this.total++
    if (!this.#byKey.has(act.key)) this.#byKey.set(act.key, act)
    this.#actsByKey.set(act.key, (this.#actsByKey.get(act.key) ?? 0) + 1)
    if (act.reference === null) return
    this.#actsByReference.set(act.reference, (this.#actsByReference.get(act.reference) ?? 0) + 1)
  }
}
