import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { errorCodes } from '../packages/counterfoil/src/domain/index.ts'
import { renderMetrics } from '../packages/counterfoil/src/server/metrics.ts'

const folder = join(import.meta.dirname, '../packages/counterfoil/monitoring')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

const now = 1_790_000_000_000
const byState = { planned: 1, attempting: 1, unknown: 1, confirmed: 5, refused: 1, fenced: 0, withdrawn: 0 }
const open = (count: number) => ({ count, oldestAt: count === 0 ? null : now - 60_000 })
const text = renderMetrics(
  new Map([['shop accepted', 3]]),
  {
    schema: 1,
    receipts: { total: 9, duplicates: 2, byState: { accepted: 1, planned: 7, quarantined: 1 } },
    outbox: { waiting: 1, oldestAt: now - 5_000 },
    quarantine: 1,
    effects: { total: 9, byState, disputed: 0, escalated: 1 },
  },
  {
    quarantineSince: null,
    recipients: [
      {
        recipient: 'bank "one"\n',
        open: { planned: open(1), attempting: open(0), unknown: open(1) },
        recent: { confirmed: 5, refused: 1, fenced: 0, notActed: 2, unknown: 1 },
        lastConfirmedAt: now - 1_500,
        health: 'unsteady',
      },
    ],
  },
  now,
  40,
)

/** The labels of each metric. */
const emitted = new Map<string, Set<string>>()
for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
  const [, name = '', labels = ''] = /^([a-z_]+)(?:\{(.*)\})? -?[\d.e+]+$/.exec(line) ?? []
  assert.notEqual(name, '', `not a sample: ${line}`)
  const names = [...labels.matchAll(/([a-z]+)="/g)].map((match) => match[1]!)
  emitted.set(name, new Set([...(emitted.get(name) ?? []), ...names]))
}

function expressions(): { readonly place: string; readonly expression: string }[] {
  const dashboard = JSON.parse(read('dashboard.json')) as {
    panels: { title: string; targets: { expr: string }[] }[]
  }
  const panels = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ place: `panel '${title}'`, expression: expr })),
  )
  const alerts = read('alerts.yml')
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => ({
      place: `alert ${rule.split('\n')[0]}`,
      expression: /expr: (>\n(?: {10}.*\n)+|.*\n)/.exec(rule)?.[1] ?? '',
    }))
  return [...panels, ...alerts]
}

describe('the dashboard and the alert rules', () => {
  test('name metrics that there are, with labels that these have', () => {
    const all = expressions()
    assert.ok(all.length > 20)
    for (const { place, expression } of all) {
      const names = [...expression.matchAll(/counterfoil_[a-z_]+/g)].map(([name]) => name)
      assert.ok(names.length > 0, `${place} asks for nothing: ${expression}`)
      for (const name of names) assert.ok(emitted.has(name), `${place}: there is no metric ${name}`)
      const labels = [
        ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(',')),
        ...[...expression.matchAll(/\{([^}]*)\}/g)].flatMap((match) =>
          [...match[1]!.matchAll(/([a-z]+)=/g)].map((label) => label[1]!),
        ),
      ].map((label) => label.trim())
      for (const label of labels)
        assert.ok(
          names.every((name) => emitted.get(name)!.has(label)),
          `${place}: no label ${label}`,
        )
    }
  })

  test('show every metric somewhere', () => {
    const all = expressions()
      .map(({ expression }) => expression)
      .join('\n')
    for (const name of emitted.keys()) assert.match(all, new RegExp(`${name}\\b`), name)
  })

  test('alert on outcomes that a delivery can have', () => {
    const patterns = [...read('alerts.yml').matchAll(/counterfoil_deliveries_total\{outcome=~"([^"]*)"/g)]
    assert.equal(patterns.length, 2)
    for (const [, pattern] of patterns) {
      for (const one of pattern!.split('|')) {
        const matches = Object.keys(errorCodes).some((code) => new RegExp(`^${one}$`).test(code))
        assert.ok(matches, `no error has the code ${one}`)
      }
    }
  })

  test('each alert says what is wrong and what to do', () => {
    for (const rule of read('alerts.yml').split('- alert: ').slice(1)) {
      assert.match(rule, /severity: (page|ticket)/)
      assert.match(rule, /summary: .{20}/)
      assert.match(rule, /action: /)
    }
  })
})

describe('the metrics', () => {
  test('tell ages in seconds and times since the epoch, and escape what stands in a label', () => {
    assert.match(text, /^counterfoil_outbox_oldest_seconds 5$/m)
    assert.match(text, /^counterfoil_quarantine_oldest_seconds 0$/m)
    const place = String.raw`recipient="bank \\"one\\"\\n"`
    assert.match(text, new RegExp(`^counterfoil_effects_open\\{${place},state="unknown"\\} 1$`, 'm'))
    assert.match(
      text,
      new RegExp(`^counterfoil_effects_open_oldest_seconds\\{${place},state="planned"\\} 60$`, 'm'),
    )
    assert.match(text, /last_confirmed_timestamp_seconds\{[^}]*\} 1789999998\.5$/m)
    assert.match(text, /^# TYPE counterfoil_effects_ended_total counter$/m)
  })
})
