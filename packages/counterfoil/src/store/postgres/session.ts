import { CounterfoilError } from '../../domain/index.ts'
import type { Plan, Planned, PlanSession, SqlValue } from '../store.ts'
import type { Connection, Run } from './connection.ts'
import type { Connections } from './connections.ts'
import { AnswerLost, endsConnection, sqlState, toError } from './failure.ts'
import { type PlanPorts, planAll } from './plan.ts'
import { quoted } from './statement.ts'
import { checkTriggerStatement, toTriggerRow, triggerTypes } from './trigger-statements.ts'

export interface SessionSettings {
  readonly schema: string
  readonly location: string
  readonly triggerRole: string | null
  readonly plan: PlanPorts
}

/**
 * The transaction of a trigger that runs statements of its own, on a connection that it has to itself. Calls
 * run one after another, as they were given.
 */
export class Session implements PlanSession {
  readonly #connection: Connection
  readonly #settings: SessionSettings
  readonly #onEnd: () => void
  readonly #timer: NodeJS.Timeout
  #last: Promise<unknown> = Promise.resolve()
  #state: 'open' | 'over' | 'timed out' = 'open'
  #isBack = false

  private constructor(
    connection: Connection,
    settings: SessionSettings,
    timeoutMs: number,
    onEnd: () => void,
  ) {
    this.#connection = connection
    this.#settings = settings
    this.#onEnd = onEnd
    this.#timer = setTimeout(() => {
      if (this.#state !== 'open') return
      this.#state = 'timed out'
      // A statement in work ends by the server's own time limit.
      void this.#inTurn(() => this.#undo()).catch(() => {})
    }, timeoutMs)
  }

  /** @param onEnd the session's connection is free again */
  static async begin(
    connections: Connections,
    settings: SessionSettings,
    timeoutMs: number,
    onEnd: () => void,
  ): Promise<Session> {
    const connection = await connections.take()
    const giveBack = () => {
      connections.giveBack(connection)
      onEnd()
    }
    const role = settings.triggerRole === null ? '' : `set local role ${quoted(settings.triggerRole)};`
    try {
      await connection.script(
        `begin; set local statement_timeout = ${timeoutMs}; set local idle_in_transaction_session_timeout = ${timeoutMs + 1_000};
         savepoint trigger_statements; ${role}`,
      )
    } catch (error) {
      connection.drop()
      giveBack()
      throw toError(error, settings.location, 'connect')
    }
    return new Session(connection, settings, timeoutMs, giveBack)
  }

  async run(sql: string, ...parameters: SqlValue[]): Promise<{ changes: number }> {
    const { rowCount } = await this.#statement(sql, parameters)
    return { changes: rowCount ?? 0 }
  }

  async get(sql: string, ...parameters: SqlValue[]): Promise<Record<string, SqlValue> | undefined> {
    const { rows } = await this.#statement(sql, parameters)
    return rows[0] === undefined ? undefined : toTriggerRow(rows[0])
  }

  async all(sql: string, ...parameters: SqlValue[]): Promise<Record<string, SqlValue>[]> {
    const { rows } = await this.#statement(sql, parameters)
    return rows.map(toTriggerRow)
  }

  commit(plan: Plan): Promise<Planned> {
    return this.#inTurn(async () => {
      this.#check()
      try {
        return await this.#commit(plan)
      } catch (error) {
        await this.#undo()
        throw this.#told(error, 'connect')
      } finally {
        this.#end()
      }
    })
  }

  rollback(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#state === 'open') await this.#undo()
    })
  }

  #statement(sql: string, parameters: readonly SqlValue[]) {
    return this.#inTurn(async () => {
      this.#check()
      checkTriggerStatement(sql, this.#settings.schema)
      try {
        return await this.#connection.runOnce(sql, parameters, triggerTypes)
      } catch (error) {
        // The server has ended the transaction with it.
        await this.#undo()
        throw this.#told(error, 'statement')
      }
    })
  }

  async #commit(plan: Plan): Promise<Planned> {
    if (this.#settings.triggerRole !== null) await this.#connection.script('reset role')
    let planned = await this.#plan(plan)
    if (planned.kind === 'consumed') {
      // Planned by another worker meanwhile: what this trigger wrote was written by that one already.
      await this.#undo()
      return planned
    }
    if (planned.kind === 'conflict') {
      await this.#connection.script('rollback to savepoint trigger_statements')
      planned = await this.#plan(plan)
      if (planned.kind === 'planned') {
        throw new CounterfoilError('store_busy', `The store ${this.#settings.location} changed under a plan.`)
      }
    }
    try {
      // A transaction that failed before is rolled back by COMMIT, and the server says so.
      if ((await this.#connection.script('commit')) === 'COMMIT') return planned
    } catch (error) {
      throw this.#told(error, endsConnection(error) ? 'write' : 'statement')
    }
    throw new CounterfoilError('transaction_closed', 'The transaction of this trigger had failed before.')
  }

  async #plan(plan: Plan): Promise<Planned> {
    const run: Run = (statement, parameters) => this.#connection.run(statement, parameters)
    return (await planAll([plan], this.#settings.plan, true, run))[0]!
  }

  /** The session is open, and has time left. */
  #check(): void {
    if (this.#state === 'timed out') throw tookTooLong()
    if (this.#state === 'open') return
    throw new CounterfoilError('transaction_closed', 'The transaction of this trigger is over.', {
      hint: 'It was committed or rolled back, or one of its statements failed: then PostgreSQL takes no more.',
    })
  }

  async #undo(): Promise<void> {
    if (this.#isBack) return
    if (!this.#connection.isLost)
      await this.#connection.script('rollback').catch(() => this.#connection.drop())
    this.#end()
  }

  #end(): void {
    if (this.#state === 'open') this.#state = 'over'
    if (this.#isBack) return
    this.#isBack = true
    clearTimeout(this.#timer)
    this.#onEnd()
  }

  #told(error: unknown, during: 'connect' | 'statement' | 'write'): CounterfoilError {
    // The server's time limit for a session's statement is that of the trigger.
    if (during === 'statement' && sqlState(error) === '57014') return tookTooLong()
    const lost = error instanceof AnswerLost || endsConnection(error)
    return toError(error, this.#settings.location, lost && during === 'statement' ? 'connect' : during)
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}

function tookTooLong(): CounterfoilError {
  return new CounterfoilError(
    'trigger_timeout',
    'The trigger took longer than its time limit; its transaction was rolled back.',
    { hint: 'A trigger only plans: it writes few rows and calls nobody.' },
  )
}
