import { createSecretKey } from 'node:crypto'
import type { StatementSync } from 'node:sqlite'
import { type EffectView, KeyRing, Vault } from '../../store/index.ts'
import { MemoryDatabase } from '../../store/sqlite/index.ts'
import { GuardedFarSide } from './guarded-far-side.ts'
import type { EntryOf, FinalRecords } from './history.ts'
import { streamOf } from './life.ts'

/** An effect that is not final, and when it was begun first. */
export interface Unsettled extends Pick<EffectView, 'recipient' | 'key' | 'state'> {
  readonly begunAt: number | null
}

/**
 * What one thread uses again for schedule after schedule, because to make it anew costs more than the schedule itself: the
 * database with its prepared statements, the guards, and statements that look on from outside.
 */
export class Workbench {
  readonly database: MemoryDatabase
  readonly guards: Readonly<Record<'guard' | 'guard that forgets', GuardedFarSide>>
  readonly vault: Vault
  #after: (ms: number, run: () => void) => () => void = () => () => {}
  #random = streamOf(0)
  readonly #durable: StatementSync
  readonly #receipt: StatementSync
  readonly #moves: StatementSync
  readonly #waiting: StatementSync
  readonly #unsettled: StatementSync
  readonly #strayOutbox: StatementSync
  readonly #strayQuarantine: StatementSync
  readonly #rows: StatementSync
  readonly #causes: StatementSync
  readonly #clear: readonly StatementSync[]

  private constructor(guards: Workbench['guards']) {
    this.guards = guards
    this.database = new MemoryDatabase({ after: (ms, run) => this.#after(ms, run) })
    this.vault = new Vault(new KeyRing(new Map([['simulated', createSecretKey(Buffer.alloc(32, 7))]])), {
      bytes: (count) => this.#random.bytes(count),
      fraction: () => this.#random.fraction(),
    })
    const { db } = this.database
    db.exec(`
      create table written (op text primary key, times integer not null);
      create temp table move (seq integer primary key, effect integer not null, was text not null, becomes text not null);
      create temp trigger moved after update of state on counterfoil_effect when old.state <> new.state begin
        insert into move (effect, was, becomes) values (new.seq, old.state, new.state);
      end`)
    this.#durable = db.prepare(
      'select count(a.number) as attempts from counterfoil_effect e join counterfoil_attempt a on a.effect = e.seq where e.key = +? and e.recipient = +?',
    )
    this.#receipt = db.prepare('select 1 from counterfoil_receipt where id = ?')
    this.#moves = db.prepare(
      'select e.id as effect, m.was, m.becomes from move m join counterfoil_effect e on e.seq = m.effect order by m.seq',
    )
    this.#waiting = db.prepare(
      'select 1 from counterfoil_outbox union all select 1 from counterfoil_alert limit 1',
    )
    this.#unsettled = db.prepare(
      "select recipient, key, state, (select min(begun_at) from counterfoil_attempt a where a.effect = seq) as begunAt from counterfoil_effect where state in ('planned', 'attempting', 'unknown')",
    )
    this.#strayOutbox = db.prepare(
      "select count(*) as count from counterfoil_receipt r full join counterfoil_outbox o on o.receipt = r.seq where (r.state = 'accepted') <> (o.receipt is not null)",
    )
    this.#strayQuarantine = db.prepare(
      "select count(*) as count from counterfoil_receipt r left join counterfoil_quarantine q on q.receipt = r.seq and q.state <> 'released' where (r.state = 'quarantined') <> (q.receipt is not null)",
    )
    this.#rows = db.prepare('select op, times from written')
    this.#causes = db.prepare(
      'select e.id as effect, r.id as receipt from counterfoil_effect e left join counterfoil_cause c on c.effect = e.seq left join counterfoil_receipt r on r.seq = c.receipt',
    )
    this.#clear = ['delete from written', 'delete from move'].map((sql) => db.prepare(sql))
  }

  static async open(): Promise<Workbench> {
    const guards = {
      guard: new GuardedFarSide('guard'),
      'guard that forgets': new GuardedFarSide('guard that forgets'),
    }
    for (const one of Object.values(guards)) await one.migrate()
    return new Workbench(guards)
  }

  /** Empties everything for the next schedule. */
  begin(seed: number, after: (ms: number, run: () => void) => () => void): void {
    this.#after = after
    this.#random = streamOf(seed)
    for (const statement of this.#clear) statement.run()
    this.database.clear()
  }

  /** What runs while the disk has room for nothing new. */
  async withoutRoom<Result>(call: () => Promise<Result>): Promise<Result> {
    const { db } = this.database
    // No lower than what is there; so everything that needs another page fails, as on a disk that is full.
    db.exec('pragma max_page_count = 1')
    try {
      return await call()
    } finally {
      db.exec('pragma max_page_count = 1000000')
    }
  }

  isDurable(recipient: string, op: string, sent: number): boolean {
    const { attempts } = this.#durable.get(op, recipient) as { attempts: number }
    return attempts >= sent
  }

  isCommitted(receipt: string): boolean {
    return this.#receipt.get(receipt) !== undefined
  }

  /** Nothing waits for the relay, to be planned or to be told. */
  get isPlanned(): boolean {
    return this.#waiting.get() === undefined
  }

  unsettled(): readonly Unsettled[] {
    return this.#unsettled.all() as never
  }

  moves(at: number): EntryOf<'moved'>[] {
    return this.#moves.all().map(({ effect, was, becomes }) => ({
      at,
      kind: 'moved',
      effect: String(effect),
      from: String(was),
      to: String(becomes),
    }))
  }

  async records(at: number): Promise<FinalRecords> {
    const { store } = this.database.handle()
    await store.open({ migrate: false })
    const count = (statement: StatementSync) => (statement.get() as { count: number }).count
    return {
      at,
      receipts: await store.listReceipts({ limit: 1_000 }),
      effects: await store.listEffects({ limit: 1_000 }),
      quarantine: (await store.listQuarantine({ limit: 1_000 })).entries,
      audit: await store.listAudit({ limit: 1_000 }),
      strayOutbox: count(this.#strayOutbox),
      strayQuarantine: count(this.#strayQuarantine),
      causes: this.#causes.all() as never,
      rows: new Map(this.#rows.all().map(({ op, times }) => [String(op), Number(times)])),
    }
  }
}
