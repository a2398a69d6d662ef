import { median } from '../figures.ts'
import type { Case } from './cases.ts'
import { groupsOf, type Measured, type Row, rowsOf, titles } from './report.ts'

const width = 960
const left = 300
const right = 150
const bar = 18
const gap = 8
const colors: Readonly<Record<Row['kind'], string>> = { ours: '#1b6e53', peer: '#8a93a3', floor: '#d7b25b' }

/** Bars of the medians, a panel a group, with the range of the rounds as a line across each bar's end. */
export function plot(
  machine: readonly string[],
  cases: readonly Case[],
  measured: readonly Measured[],
): string {
  const parts: string[] = []
  let y = 64
  for (const group of groupsOf(measured)) {
    const [value, unit] = group === 'idle' ? (['p50', 'ms, p50'] as const) : (['rate', 'a second'] as const)
    const rows = rowsOf(cases, measured, group).map((row) => ({
      row,
      values: row.rounds.flatMap(({ figure }) => figure[value] ?? []),
    }))
    const most = Math.max(...rows.flatMap(({ values }) => values))
    const x = (amount: number) => left + (amount / most) * (width - left - right)
    parts.push(text(16, y, titles[group], 'font-weight="600"'))
    parts.push(
      text(
        width - 16,
        y,
        group === 'idle' ? `${unit}; shorter is better` : unit,
        'fill="#667" text-anchor="end"',
      ),
    )
    y += 14
    for (const { row, values } of rows) {
      const [middle, low, high] = [median(values), Math.min(...values), Math.max(...values)]
      const center = y + bar / 2
      parts.push(
        text(left - 10, center + 4, row.name, 'text-anchor="end"'),
        `<rect x="${left}" y="${y}" width="${(x(middle) - left).toFixed(1)}" height="${bar}" fill="${colors[row.kind]}"/>`,
        `<path d="M${x(low).toFixed(1)} ${center}H${x(high).toFixed(1)}" stroke="#222" stroke-width="1.5"/>`,
        text(x(high) + 8, center + 4, shown(middle)),
      )
      y += bar + gap
    }
    y += 30
  }
  const legend = [
    ['ours', 'Counterfoil'],
    ['peer', 'peers'],
    ['floor', 'bare PostgreSQL'],
  ] as const
  const key = legend.flatMap(([kind, name], index) => [
    `<rect x="${16 + index * 150}" y="22" width="14" height="14" fill="${colors[kind]}"/>`,
    text(36 + index * 150, 34, name),
  ])
  const facts = machine.map((line, index) => text(16, y + index * 16, line, 'fill="#667" font-size="11"'))
  const height = y + machine.length * 16
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    '<title>Counterfoil beside its peers on one PostgreSQL</title>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...key,
    ...parts,
    ...facts,
    '</svg>',
    '',
  ].join('\n')
}

function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`
}
