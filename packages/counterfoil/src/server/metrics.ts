import type { StoreStatus } from '../store/index.ts'

type Counters = ReadonlyMap<string, number>

/**
 * The Prometheus text format, version 0.0.4. Labels hold configured names and codes only: nothing that a
 * sender chose, so neither secrets nor unbounded label values get in.
 *
 * @param counters keys are `producer outcome`
 */
export function renderMetrics(counters: Counters, status: StoreStatus): string {
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
    family('counterfoil_effects_disputed', 'gauge', 'Effects with contradictory evidence.', [
      [{}, status.effects.disputed],
    ]),
  ]
  return families.join('')
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
