/** What PostgreSQL gives to a row with a unique key and nothing else: no state, no lease, no effect. */
import { Client, Pool } from 'pg'
import type { Contender, Item, Place, Sending } from '../contender.ts'

const table =
  'create table event (id uuid primary key, body bytea not null, at timestamptz not null default now())'
const connections = 20

interface Row {
  readonly id: string
  readonly body: Buffer
}

const prepare = ({ id, body }: Item): Row => ({ id, body: Buffer.from(JSON.stringify(body)) })

/** One statement a row, over a pool: PostgreSQL lets concurrent commits share a flush. */
export const single: Contender = {
  async sending({ url }) {
    const pool = new Pool({ connectionString: url, max: connections })
    await pool.query(table)
    return {
      prepare,
      async send(row) {
        const { id, body } = row as Row
        await pool.query({
          name: 'insert',
          text: 'insert into event (id, body) values ($1, $2) on conflict (id) do nothing',
          values: [id, body],
        })
      },
      close: () => pool.end(),
    }
  },
}

/** One statement for all who wait, over one connection: the most that group commit can give without doing anything. */
export const shared: Contender = {
  async sending(place) {
    return await sharedInserts(place)
  },
}

async function sharedInserts({ url }: Place): Promise<Sending> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(table)
  let waiting: { row: Row; resolve: () => void; reject: (error: unknown) => void }[] = []
  let busy = false
  const flush = async () => {
    if (busy) return
    busy = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      try {
        await client.query({
          name: 'insert',
          text: 'insert into event (id, body) select * from unnest($1::uuid[], $2::bytea[]) on conflict (id) do nothing',
          values: [group.map(({ row }) => row.id), group.map(({ row }) => row.body)],
        })
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    busy = false
  }
  return {
    prepare,
    send: (row) =>
      new Promise<void>((resolve, reject) => {
        waiting.push({ row: row as Row, resolve, reject })
        // All who call in one turn of the loop go together.
        setImmediate(flush)
      }),
    close: () => client.end(),
  }
}

/** Two commits, one after the other, then the effect: the least that a receipt and a begun attempt can take. */
export const twoCommits: Contender = {
  async idling({ url }, acted) {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(table)
    await client.query(
      'create table attempt (id uuid primary key, begun_at timestamptz not null default now())',
    )
    return {
      prepare,
      async send(row) {
        const { id, body } = row as Row
        await client.query({
          name: 'event',
          text: 'insert into event (id, body) values ($1, $2) on conflict (id) do nothing',
          values: [id, body],
        })
        await client.query({ name: 'attempt', text: 'insert into attempt (id) values ($1)', values: [id] })
        acted()
      },
      close: () => client.end(),
    }
  },
}
