import { type Clock, type Contract, contractPath } from '../domain/index.ts'
import type { Arrival } from '../intake/index.ts'
import type { StoredAnswer } from './answer.ts'
import { pathOf } from './call.ts'
import { parseKey, scopedId } from './key.ts'
import { type KeyRecord, lookUp, placeTombstone, recordJson, recordStatus } from './record.ts'
import type { Refusal } from './refusal.ts'
import type { Settings } from './settings.ts'
import type { GuardStore, Mode } from './store.ts'

export interface OwnPaths {
  readonly store: GuardStore<any, Mode>
  readonly settings: Settings
  readonly contract: Contract
  readonly clock: Clock
  callerOf(arrival: Arrival): Promise<string | Refusal>
  refused(refusal: Refusal): StoredAnswer
  faultOf(error: unknown): StoredAnswer
}

/** `GET /.well-known/…`, `GET {path}/keys/{key}`, `PUT {path}/tombstones/{key}`; null for any other path. */
export async function serveOwn(own: OwnPaths, arrival: Arrival): Promise<StoredAnswer | null> {
  const { settings, refused } = own
  const [path = ''] = pathOf(arrival.url).split('?', 1)
  const published = path === contractPath
  if (!published && !path.startsWith(`${settings.path}/`)) return null
  const [what = '', encoded = '', ...rest] = path.slice(settings.path.length + 1).split('/')
  const method = published || what === 'keys' ? 'GET' : 'PUT'
  if (!published && ((what !== 'keys' && what !== 'tombstones') || encoded === '' || rest.length > 0))
    return refused({ code: 'not_found', detail: 'The guard serves keys/{key} and tombstones/{key} here.' })
  if (arrival.method !== method && !(method === 'GET' && arrival.method === 'HEAD'))
    return refused({ code: 'method_not_allowed', detail: `Use ${method}.`, headers: { allow: method } })
  // Public: it says how to call this service, and nothing of anybody's calls.
  if (published) return document(200, own.contract, 'max-age=300')

  const caller = await own.callerOf(arrival)
  if (typeof caller !== 'string') return refused(caller)
  const key = decodeKey(encoded)
  if (key === undefined) return refused({ code: 'guard_key_invalid', detail: 'The path ends in no key.' })
  const id = scopedId('key', caller, key)
  try {
    const record =
      what === 'keys'
        ? await own.store.transaction((session) => lookUp(session, id))
        : await own.store.transaction((session) =>
            placeTombstone(session, { id, key, keepForMs: keepForMs(settings) }),
          )
    return describe(key, record, what === 'tombstones')
  } catch (error) {
    return own.faultOf(error)
  }
}

/** A tombstone may go once every request with its key is beyond retention anyway. */
function keepForMs({ forgetKeys, remembersForMs }: Settings): number | null {
  return forgetKeys ? remembersForMs : null
}

function describe(key: string, record: KeyRecord, closing: boolean): StoredAnswer {
  const closed = record.state === 'tombstoned' ? 200 : 409
  return document(closing ? closed : recordStatus[record.state], recordJson(key, record), 'no-store')
}

function document(status: number, value: unknown, cacheControl: string): StoredAnswer {
  return {
    status,
    headers: [
      ['cache-control', cacheControl],
      ['content-type', 'application/json'],
    ],
    body: Buffer.from(JSON.stringify(value)),
  }
}

/** A bare key, percent-encoded: as a path has it, never quoted. */
function decodeKey(encoded: string): string | undefined {
  try {
    const key = decodeURIComponent(encoded)
    return parseKey(`"${key.replaceAll(/["\\]/g, '\\$&')}"`)
  } catch {
    return undefined
  }
}
