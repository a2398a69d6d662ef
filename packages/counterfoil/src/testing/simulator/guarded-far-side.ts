import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Contract } from '../../domain/index.ts'
import { type Guard, guard, type Handler, type StoredAnswer, sqliteGuardStore } from '../../guard/index.ts'
import type { Arrival } from '../../intake/index.ts'
import {
  type Act,
  type Arriving,
  answer,
  type FarAnswer,
  type FarSide,
  type FarSidePorts,
} from './far-side.ts'

type Name = 'guard' | 'guard that forgets'

const settings = {
  guard: { remembersFor: '1h', acceptsFor: '40s' },
  'guard that forgets': { remembersFor: '1h', forgetKeys: true },
} as const

const cleanEveryMs = 60_000

/** The guard that ships, in front of a handler that counts its acts, on a database in memory. */
export class GuardedFarSide implements FarSide {
  readonly contract: Contract
  readonly #db = new DatabaseSync(':memory:')
  readonly #guard: Guard<DatabaseSync, 'sync'>
  readonly #clear: StatementSync[] = []
  #ports: FarSidePorts | undefined
  #fails = false
  #cleanAt = 0

  constructor(name: Name) {
    const now = () => this.#ports!.now()
    const clock = { now, after: () => () => {} }
    this.#guard = guard({
      store: sqliteGuardStore(this.#db, { clock }),
      caller: () => 'the engine',
      ...settings[name],
      clock,
      log: () => {},
    })
    this.contract = this.#guard.contract
  }

  async migrate(): Promise<void> {
    await this.#guard.migrate()
    const tables = this.#db
      .prepare(
        "select name from sqlite_schema where type = 'table' and name like 'guard%' and name not like '%migration'",
      )
      .all()
    this.#clear.push(...tables.map(({ name }) => this.#db.prepare(`delete from ${name}`)))
  }

  /** Empties its tables for the next schedule. */
  begin(ports: FarSidePorts): void {
    this.#ports = ports
    this.#cleanAt = 0
    for (const statement of this.#clear) statement.run()
  }

  async receive(request: Arriving, fails: boolean): Promise<FarAnswer> {
    await this.#clean()
    this.#fails = fails
    let act: Act | undefined
    const handler: Handler<DatabaseSync, 'sync'> = ({ key, body, order }) => {
      if (this.#fails) return { status: 500, json: { error: 'the handler failed' } }
      const place =
        order === null ? { domain: null, version: null } : { ...order, version: Number(order.version) }
      act = { key, body: Buffer.from(body).toString(), ...place }
      return { status: 200, json: { acted: true } }
    }
    try {
      const answered = await this.#guard.handleArrival(arrivalOf(request), handler)
      // Only what was committed has acted.
      if (act !== undefined && answered.status === 200) this.#ports!.acted(act)
      return toAnswer(answered)
    } catch {
      return answer(500)
    }
  }

  async lookup(request: Arriving): Promise<FarAnswer> {
    await this.#clean()
    return toAnswer((await this.#guard.serveArrival(arrivalOf(request)))!)
  }

  async close(request: Arriving): Promise<FarAnswer> {
    return await this.lookup(request)
  }

  /** What its owner does now and then: keys are forgotten in time, and not only known to be old. */
  async #clean(): Promise<void> {
    const now = this.#ports!.now()
    if (now < this.#cleanAt) return
    this.#cleanAt = now + cleanEveryMs
    await this.#guard.clean()
  }
}

function toAnswer({ status, headers, body }: StoredAnswer): FarAnswer {
  return { status, headers: Object.fromEntries(headers), body: Buffer.from(body).toString() }
}

function arrivalOf({ method, path, headers, body }: Arriving): Arrival {
  return {
    method,
    url: path,
    scheme: 'http',
    header: (name) => headers[name] ?? null,
    headers: () => Object.entries(headers),
    headersFit: () => true,
    readBody: async () => ({ kind: 'read', body: Buffer.from(body) }),
  }
}
