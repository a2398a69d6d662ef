import type { Instant } from '../domain/index.ts'
import type { SurveyedHealth } from '../operate/index.ts'
import type { StoreStatus } from '../store/index.ts'

type Counters = ReadonlyMap<string, number>

/**
 * The Prometheus text format, version 0.0.4. Labels hold configured names and codes only: nothing that a
 * sender chose, so neither secrets nor unbounded label values get in.
 *
 * @param counters keys are `producer outcome`
 */
export function renderMetrics(
  counters: Counters,
  status: StoreStatus,
  { quarantineSince, recipients }: SurveyedHealth,
  now: Instant,
  roundTripMs: number | null,
): string {
  const seconds = (since: Instant | null) => (since === null ? 0 : Math.max(0, (now - since) / 1000))
  const byState = recipients.flatMap(({ recipient, open }) =>
    Object.entries(open).map(([state, one]) => ({ labels: { recipient, state }, ...one })),
  )
  const families = [
    family(
      'counterfoil_deliveries_total',
      'counter',
      'Deliveries answered since the start, by producer and outcome.',
      [...counters].map(([key, value]) => {
        const [producer = '', outcome = ''] = key.split(' ')
        return [{ producer, outcome }, value]
      }),
    ),
    family(
      'counterfoil_receipts',
      'gauge',
      'Receipts in the store, by state.',
      byLabel('state', status.receipts.byState),
    ),
    family('counterfoil_outbox_waiting', 'gauge', 'Outbox records waiting for the relay.', [
      [{}, status.outbox.waiting],
    ]),
    family('counterfoil_quarantine', 'gauge', 'Entries in quarantine that wait for an operator.', [
      [{}, status.quarantine],
    ]),
    family(
      'counterfoil_effects',
      'gauge',
      'Effects in the ledger, by state.',
      byLabel('state', status.effects.byState),
    ),
    family('counterfoil_effects_escalated', 'gauge', 'Effects that wait for a person.', [
      [{}, status.effects.escalated],
    ]),
    family('counterfoil_receipts_total', 'counter', 'Receipts ever written.', [[{}, status.receipts.total]]),
    family('counterfoil_duplicates_total', 'counter', 'Deliveries that came again and changed nothing.', [
      [{}, status.receipts.duplicates],
    ]),
    family('counterfoil_effects_planned_total', 'counter', 'Effects ever planned.', [
      [{}, status.effects.total],
    ]),
    family(
      'counterfoil_effects_ended_total',
      'counter',
      'Effects that became final, by state.',
      byLabel('state', ended(status)),
    ),
    family('counterfoil_outbox_oldest_seconds', 'gauge', 'Age of the oldest outbox record that waits.', [
      [{}, seconds(status.outbox.oldestAt)],
    ]),
    family(
      'counterfoil_quarantine_oldest_seconds',
      'gauge',
      'Age of the oldest quarantine entry that waits.',
      [[{}, seconds(quarantineSince)]],
    ),
    family(
      'counterfoil_effects_open',
      'gauge',
      'Effects that are not final, by recipient and state.',
      byState.map(({ labels, count }) => [labels, count]),
    ),
    family(
      'counterfoil_effects_open_oldest_seconds',
      'gauge',
      'Time since the oldest open effect was planned, by recipient and state.',
      byState.map(({ labels, oldestAt }) => [labels, seconds(oldestAt)]),
    ),
    family(
      'counterfoil_recipient_recent_attempts',
      'gauge',
      'Attempts of the newest effects of each recipient, by outcome.',
      recipients.flatMap(({ recipient, recent }) =>
        Object.entries(recent).map(([outcome, count]): Sample => [{ recipient, outcome }, count]),
      ),
    ),
    family(
      'counterfoil_recipient_last_confirmed_timestamp_seconds',
      'gauge',
      'When the last of the newest effects of a recipient was confirmed; 0 when none was.',
      recipients.map(({ recipient, lastConfirmedAt }) => [{ recipient }, (lastConfirmedAt ?? 0) / 1000]),
    ),
    family('counterfoil_effects_disputed', 'gauge', 'Effects with contradictory evidence.', [
      [{}, status.effects.disputed],
    ]),
  ]
  if (roundTripMs !== null) {
    families.push(
      family(
        'counterfoil_round_trip_seconds',
        'gauge',
        'How long the last round trip took, or the one under way by now.',
        [[{}, roundTripMs / 1000]],
      ),
    )
  }
  return families.join('')
}

function ended({ effects }: StoreStatus): Readonly<Record<string, number>> {
  const { confirmed, refused, fenced, withdrawn } = effects.byState
  return { confirmed, refused, fenced, withdrawn }
}

type Sample = [labels: Record<string, string>, value: number]

function byLabel(name: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([value, count]) => [{ [name]: value }, count])
}

function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
    return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
