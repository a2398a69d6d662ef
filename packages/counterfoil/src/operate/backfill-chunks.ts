import { CounterfoilError, chunkDigest } from '../domain/index.ts'
import { type BackfillIntake, type BackfillItem, beginning } from '../intake/index.ts'
import type { BackfillChunk, BackfillView, Store } from '../store/index.ts'

/** Items of one chunk: few, so that a live delivery that meets one in the store waits a millisecond or two for it. */
export const chunkItems = 25
/** Bytes of one chunk; a larger item goes alone. */
export const chunkBytes = 64 * 1024
const page = 500

export interface FoundChunk {
  readonly chunk: BackfillChunk
  readonly items: readonly BackfillItem[]
}

/** A source in chunks, as a plan finds it. */
export async function* chunksOf(intake: BackfillIntake): AsyncGenerator<FoundChunk> {
  let items: BackfillItem[] = []
  let bytes = 0
  let place = beginning
  let number = 0
  const finish = (): FoundChunk => {
    const digest = chunkDigest(items.map((item) => item.digest))
    const found = { chunk: { number: number++, ...place, items: items.length, digest }, items }
    place = items.at(-1)!.next
    items = []
    bytes = 0
    return found
  }
  for await (const item of intake.items(beginning)) {
    const size = item.bytes?.length ?? 0
    if (items.length > 0 && bytes + size > chunkBytes) yield finish()
    items.push(item)
    bytes += size
    if (items.length === chunkItems) yield finish()
  }
  if (items.length > 0) yield finish()
}

/**
 * The chunks that are not taken in yet, each held against the digest that the plan has of it.
 *
 * @throws CounterfoilError `backfill_changed`, before anything of the chunk that differs is handed on, and before the
 *   last one when there is more behind it; `backfill_unreadable`
 */
export async function* plannedChunks(
  store: Pick<Store, 'backfillChunks'>,
  intake: BackfillIntake,
  { name, plan }: BackfillView,
  first: number,
): AsyncGenerator<FoundChunk> {
  const chunks = storedChunks(store, name, first)
  const begins = await chunks.next()
  if (begins.done === true) return
  const { at, before } = begins.value
  const items = intake.items({ at, before })
  try {
    for (let chunk: BackfillChunk | undefined = begins.value; chunk !== undefined; ) {
      const taken: BackfillItem[] = []
      while (taken.length < chunk.items) {
        const { value, done } = await items.next()
        if (done === true) throw changed(name, `it ends after ${taken.at(-1)?.place ?? 'nothing'}`)
        taken.push(value)
      }
      if (chunkDigest(taken.map(({ digest }) => digest)) !== chunk.digest) {
        throw changed(name, `what is from ${taken[0]!.place} to ${taken.at(-1)!.place} differs`)
      }
      const isLast = chunk.number + 1 === plan.chunks
      if (isLast && (await items.next()).done !== true) throw changed(name, 'there is more at its end')
      yield { chunk, items: taken }
      const next = await chunks.next()
      chunk = next.done === true ? undefined : next.value
    }
  } finally {
    await items.return(undefined)
  }
}

async function* storedChunks(
  store: Pick<Store, 'backfillChunks'>,
  name: string,
  first: number,
): AsyncGenerator<BackfillChunk> {
  for (let from = first; ; from += page) {
    const chunks = await store.backfillChunks({ name, from, limit: page })
    yield* chunks
    if (chunks.length < page) return
  }
}

function changed(name: string, why: string): CounterfoilError {
  return new CounterfoilError(
    'backfill_changed',
    `The input of '${name}' is not the one that was planned: ${why}.`,
    {
      hint: 'Put back the one that was approved and resume, or plan this one under another name.',
    },
  )
}
