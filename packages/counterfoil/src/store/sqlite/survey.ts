import type { DatabaseSync } from 'node:sqlite'
import { toRecipientSurvey } from '../rows.ts'
import type { Sample, StoreSurvey, SurveyQuery } from '../store.ts'

type Row = Record<string, any>

/** What waits and how recipients do, and the totals as they were each minute. */
export class Survey {
  readonly #quarantine
  readonly #open
  readonly #recent
  readonly #keep
  readonly #forget
  readonly #samples

  constructor(db: DatabaseSync) {
    // counterfoil_quarantine_waiting
    this.#quarantine = db.prepare(
      "select at from counterfoil_quarantine where seq = (select min(seq) from counterfoil_quarantine where state = 'waiting')",
    )
    // counterfoil_effect_state: what is open, and none of what went well.
    this.#open = db.prepare(`
      select recipient, state, count(*) as count, min(planned_at) as oldest_at from counterfoil_effect
      where state in ('planned', 'attempting', 'unknown') and state <> 'confirmed' group by recipient, state`)
    // counterfoil_effect_recipient, the primary key (effect, number)
    this.#recent = db.prepare(`
      select a.outcome, count(*) as count, max(a.ended_at) as last_at from counterfoil_attempt a
      where a.outcome is not null and a.effect in
        (select seq from counterfoil_effect where recipient = ? order by seq desc limit ?) group by a.outcome`)
    this.#keep = db.prepare(
      'insert into counterfoil_sample (minute, totals) values (?, ?) on conflict do nothing',
    )
    this.#forget = db.prepare('delete from counterfoil_sample where minute < ?')
    this.#samples = db.prepare(
      'select minute, totals from counterfoil_sample where minute >= ? order by minute',
    )
  }

  survey({ recipients, recent }: SurveyQuery): StoreSurvey {
    const open = this.#open.all() as Row[]
    const oldest = this.#quarantine.get() as { at: number } | undefined
    return {
      quarantineSince: oldest?.at ?? null,
      recipients: recipients.map((recipient) =>
        toRecipientSurvey(
          recipient,
          open.filter((row) => row.recipient === recipient),
          this.#recent.all(recipient, recent),
        ),
      ),
    }
  }

  keepSample({ minute, totals, oldest }: Sample & { oldest: number }): void {
    this.#keep.run(minute, JSON.stringify(totals))
    this.#forget.run(oldest)
  }

  listSamples(since: number): Sample[] {
    return this.#samples.all(since).map((row) => ({
      minute: row.minute as number,
      totals: JSON.parse(row.totals as string),
    }))
  }
}
