import { toRecipientSurvey } from '../rows.ts'
import type { Sample, StoreSurvey, SurveyQuery } from '../store.ts'
import { texts } from './columns.ts'
import type { Run } from './connection.ts'
import { quoted, type Statement } from './statement.ts'

/** What waits and how recipients do, and the totals as they were each minute. */
export class Survey {
  readonly #run: Run
  readonly #statements

  constructor(schema: string, run: Run) {
    this.#run = run
    this.#statements = surveyStatements(schema)
  }

  async survey({ recipients, recent }: SurveyQuery): Promise<StoreSurvey> {
    const { quarantine, open, attempts } = this.#statements
    const [[waiting], opened, attempted] = await Promise.all([
      this.#run(quarantine, []),
      this.#run(open, []),
      this.#run(attempts, [texts(recipients), recent]),
    ])
    return {
      quarantineSince: waiting?.at ?? null,
      recipients: recipients.map((recipient) => {
        const of = (rows: typeof opened) => rows.filter((row) => row.recipient === recipient)
        return toRecipientSurvey(recipient, of(opened), of(attempted))
      }),
    }
  }

  async keepSample({ minute, totals, oldest }: Sample & { readonly oldest: number }): Promise<void> {
    await this.#run(this.#statements.keep, [minute, JSON.stringify(totals), oldest])
  }

  /** The row of a minute that no sample is of. */
  async probe(at: number): Promise<void> {
    await this.#run(this.#statements.probe, [String(at)])
  }

  async listSamples(since: number): Promise<Sample[]> {
    const rows = await this.#run(this.#statements.samples, [since])
    return rows.map(({ minute, totals }) => ({ minute, totals: JSON.parse(totals) }))
  }
}

export function surveyStatements(schema: string) {
  const s = quoted(schema)
  const statement = (name: string, text: string, writes = false): Statement => ({
    name: `counterfoil_survey_${name}`,
    writes,
    text,
  })
  return {
    // quarantine_waiting
    quarantine: statement(
      'quarantine',
      `select at::float8 from ${s}.quarantine q where q.state = 'waiting' order by q.seq limit 1`,
    ),
    // All of a table that stays small; the oldest of each by the primary key.
    open: statement(
      'open',
      `select o.recipient, o.state, o.count, (select e.planned_at::float8 from ${s}.effect e where e.seq = o.first) as oldest_at
       from (select recipient, state, count(*)::float8 as count, min(effect) as first from ${s}.open group by recipient, state) o`,
    ),
    // effect_recipient, the primary key (effect, number)
    attempts: statement(
      'attempts',
      `select r.recipient, a.outcome, count(*)::float8 as count, max(a.ended_at)::float8 as last_at
       from unnest($1::text[]) as r(recipient)
       cross join lateral (
         select seq from ${s}.effect where (recipient, seq) > (r.recipient, 0) and (recipient, seq) <= (r.recipient, 9223372036854775807)
         order by recipient desc, effect.seq desc limit $2::int) e
       cross join lateral (select outcome, ended_at from ${s}.attempt where effect = e.seq and outcome is not null) a
       group by r.recipient, a.outcome`,
    ),
    keep: statement(
      'keep',
      `with gone as (delete from ${s}.sample where minute < $3::bigint)
       insert into ${s}.sample (minute, totals) values ($1::bigint, $2::text) on conflict do nothing`,
      true,
    ),
    probe: statement(
      'probe',
      `insert into ${s}.sample (minute, totals) values (0, $1::text) on conflict (minute) do update set totals = excluded.totals`,
      true,
    ),
    samples: statement(
      'samples',
      `select minute::float8, totals from ${s}.sample where minute >= $1::bigint order by sample.minute`,
    ),
  }
}
