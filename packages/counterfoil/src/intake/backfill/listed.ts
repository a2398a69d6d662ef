import { createHash } from 'node:crypto'
import { canonicalize, readJson } from '../../domain/index.ts'
import type { BackfillItem, ListEvents, ReadOptions } from './item.ts'

/** What a vendor's list gives, each in its canonical form: the order of members may differ from one answer to another. */
export async function* readListed(
  list: ListEvents,
  until: number,
  { from, maxBytes }: ReadOptions,
): AsyncGenerator<BackfillItem> {
  let count = 0
  for await (const value of list({ until })) {
    if (count++ < from.at) continue
    const bytes = Buffer.from(textOf(value))
    const digest = createHash('sha256').update(bytes).digest()
    const next = { at: count, before: count }
    yield { place: `event ${count}`, bytes: bytes.length > maxBytes ? null : bytes, digest, next }
  }
}

/**
 * As JSON writes it, in one spelling. What no JSON can hold becomes text that is no JSON: it is reported, and not
 * passed over.
 */
function textOf(value: unknown): string {
  try {
    const text = JSON.stringify(value, (_, member) =>
      typeof member === 'bigint' ? rawJson(String(member)) : member,
    )
    const reading = readJson(Buffer.from(text), { numbers: 'lossless' })
    return reading.kind === 'read' ? canonicalize(reading.value) : text
  } catch {
    return `a ${typeof value} that JSON cannot hold`
  }
}

/** ECMAScript's JSON.rawJSON, which the types of this version do not know yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }
