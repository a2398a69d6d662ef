import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { CounterfoilError, type Log } from '../domain/index.ts'

/** Vault keys by name. The first seals, all open; so a new key is put first and an old one stays until retention. */
export class KeyRing {
  readonly primary: string
  readonly #keys: ReadonlyMap<string, KeyObject>

  constructor(keys: ReadonlyMap<string, KeyObject>) {
    const [primary] = keys.keys()
    if (primary === undefined) throw invalid('It holds no key')
    this.primary = primary
    this.#keys = keys
  }

  get(id: string): KeyObject | undefined {
    return this.#keys.get(id)
  }

  [inspect.custom](): string {
    return `KeyRing(${[...this.#keys.keys()].join(', ')})`
  }
}

export interface KeyRingSources {
  /** `COUNTERFOIL_VAULT_KEYS`, `NODE_ENV`, `COUNTERFOIL_ENV` are read. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** One `id:base64` a line; lines that begin with # are comments. */
  readonly file?: string
  /** Where a development key is kept when there is no other and this is not production. */
  readonly devFile: string
  readonly log: Log
}

/**
 * Finds the vault keys: a file that was named, the environment, or a development key.
 *
 * @throws CounterfoilError `key_ring_missing` in production without a key, `key_ring_invalid`
 */
export function loadKeyRing({ env, file, devFile, log }: KeyRingSources): KeyRing {
  if (file !== undefined) return fromFile(file)
  const listed = env.COUNTERFOIL_VAULT_KEYS
  if (listed !== undefined && listed.trim() !== '')
    return new KeyRing(parse(listed.split(','), 'COUNTERFOIL_VAULT_KEYS'))
  if (env.NODE_ENV === 'production' || env.COUNTERFOIL_ENV === 'production') {
    throw new CounterfoilError('key_ring_missing', 'This is production and no vault key is configured.', {
      hint: 'Set COUNTERFOIL_VAULT_KEYS=NAME:KEY, with a key made by: openssl rand -base64 32',
    })
  }
  if (!existsSync(devFile)) makeDevelopmentKey(devFile)
  log(
    'warn',
    'DEVELOPMENT VAULT KEY: payloads are sealed with a key that lies beside them. Set COUNTERFOIL_VAULT_KEYS before real data comes in.',
    { file: devFile },
  )
  return fromFile(devFile)
}

/** Appears whole or not at all, and once: of two processes that start together both use the same key. */
function makeDevelopmentKey(file: string): void {
  const name = randomBytes(4).toString('hex')
  const line = `dev-${name}:${randomBytes(32).toString('base64')}\n`
  const draft = `${file}.${name}`
  try {
    writeFileSync(draft, line, { mode: 0o600, flag: 'wx', flush: true })
    // A link is refused where the name is taken; renaming would take it from the other process.
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw invalid(`${file} cannot be written`, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

function fromFile(file: string): KeyRing {
  let text: string
  try {
    if (process.platform !== 'win32' && (statSync(file).mode & 0o007) !== 0) {
      throw new CounterfoilError(
        'key_ring_invalid',
        `The vault key file ${file} is open to every user of this machine.`,
        {
          hint: `chmod 600 ${file}`,
        },
      )
    }
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof CounterfoilError) throw error
    throw invalid(`${file} cannot be read`, error)
  }
  return new KeyRing(
    parse(
      text.split('\n').filter((line) => !line.startsWith('#')),
      file,
    ),
  )
}

/** Never quotes a line: it holds a key. */
function parse(lines: readonly string[], where: string): Map<string, KeyObject> {
  const keys = new Map<string, KeyObject>()
  for (const [index, line] of lines.map((text) => text.trim()).entries()) {
    if (line === '') continue
    const [, id, base64 = ''] = /^([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]{43}=)$/.exec(line) ?? []
    const key = Buffer.from(base64, 'base64')
    if (id === undefined || key.toString('base64') !== base64) {
      throw invalid(`Entry ${index + 1} of ${where} is not NAME:KEY with a key of 32 bytes in base64`)
    }
    if (keys.has(id)) throw invalid(`${where} names the key '${id}' twice`)
    keys.set(id, createSecretKey(key))
  }
  return keys
}

function invalid(what: string, cause?: unknown): CounterfoilError {
  return new CounterfoilError('key_ring_invalid', `The vault key ring is not usable: ${what}.`, {
    hint: 'Make a key with: openssl rand -base64 32',
    cause,
  })
}
