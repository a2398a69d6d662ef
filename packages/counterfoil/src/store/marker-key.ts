import { codeOf } from '../domain/index.ts'
import type { Sealed } from './records.ts'
import type { Vault } from './vault.ts'

export type MarkerVault = Pick<Vault, 'seal' | 'open' | 'primary' | 'newKey'>

/** Where a store keeps the key of its markers, sealed as payloads are. */
export interface MarkerKeyPlace {
  read(): Promise<{ readonly key: Sealed | null; readonly marked: boolean }>
  /** Unless another process was faster: unless the key that is kept is still `known`. */
  write(key: Sealed, known: Sealed | null): Promise<void>
}

/** What the sealed key is bound to. */
const record = 'marker-key'

/**
 * The key that markers are made under: random, made once for a store. It is sealed anew when another vault key is
 * put first, so that the old one can go; markers outlive vault keys.
 *
 * @throws CounterfoilError `vault_key_unknown`, `vault_damaged` when there are markers and it does not open
 */
export async function markerKey(place: MarkerKeyPlace, vault: MarkerVault): Promise<Uint8Array> {
  const { key: sealed, marked } = await place.read()
  const opened = sealed === null ? null : open(sealed, vault, marked)
  if (opened !== null && sealed?.keyId === vault.primary) return opened
  const key = opened ?? vault.newKey()
  await place.write(vault.seal(key, record), sealed)
  const kept = (await place.read()).key
  return vault.open(kept!, record)
}

/** A key that nothing was made under yet is no loss. */
function open(sealed: Sealed, vault: MarkerVault, marked: boolean): Uint8Array | null {
  try {
    return vault.open(sealed, record)
  } catch (error) {
    if (marked || codeOf(error) === undefined) throw error
    return null
  }
}
