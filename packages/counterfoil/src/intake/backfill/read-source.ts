import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CounterfoilError } from '../../domain/index.ts'
import type { BackfillSource } from '../../store/index.ts'
import type { BackfillItem, ListEvents, ReadOptions, StoredSource } from './item.ts'
import { readLines } from './lines.ts'
import { readListed } from './listed.ts'
import { readRequests } from './requests.ts'

/** What lies at a path: a file of events, or a directory of stored requests. @throws CounterfoilError `backfill_unreadable` */
export async function sourceAt(path: string): Promise<StoredSource> {
  const whole = resolve(path)
  const found = await stat(whole).catch((error: unknown) => {
    throw unreadable(whole, error)
  })
  return { kind: found.isDirectory() ? 'requests' : 'events', path: whole }
}

/**
 * The items of a source, in an order that does not change.
 *
 * @param list for a source that the configuration lists
 * @throws CounterfoilError `backfill_unreadable`
 */
export async function* readSource(
  source: BackfillSource,
  list: ListEvents | null,
  options: ReadOptions,
): AsyncGenerator<BackfillItem> {
  try {
    if (source.kind === 'events') yield* readLines(source.path, options)
    else if (source.kind === 'requests') yield* readRequests(source.path, options)
    else if (list !== null) yield* readListed(list, source.until, options)
    else throw new Error('the configuration does not list it any more')
  } catch (error) {
    throw unreadable(source.kind === 'listed' ? 'that the configuration lists' : source.path, error)
  }
}

function unreadable(what: string, cause: unknown): CounterfoilError {
  const { code = (cause as Error).message } = cause as { code?: string }
  return new CounterfoilError('backfill_unreadable', `The source ${what} cannot be read: ${code}.`, {
    hint: 'The process that takes it in has to see it at this path.',
    cause,
  })
}
