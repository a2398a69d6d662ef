/** Writes docs/recipients.md from the catalogue: `npm run docs:recipients`. A test compares the two. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contractInWords } from '../packages/counterfoil/src/operate/index.ts'
import * as catalogue from '../packages/counterfoil/src/recipients/catalogue/index.ts'

const { entry: _, ...entries } = catalogue

export const recipientsPath = join(import.meta.dirname, '../docs/recipients.md')

export function recipientsPage(): string {
  const all = Object.entries(entries) as [string, catalogue.CatalogueEntry][]
  all.sort(([, a], [, b]) => a.vendor.localeCompare(b.vendor))
  return [
    '# Recipients',
    '',
    'Ready contracts, from `counterfoil/recipients`. This page is made from the code: `npm run docs:recipients`.',
    'A contract states what a vendor promises and nothing else: where no number was found, none is given, and nothing is',
    'repeated until you state one. Read what is unconfirmed before you rely on it.',
    '',
    '| vendor | name | key | remembered for | after an unknown outcome |',
    '| --- | --- | --- | --- | --- |',
    ...all.map(row),
    '',
    ...all.flatMap(section),
  ].join('\n')
}

function row([name, { vendor, contract }]: [string, catalogue.CatalogueEntry]): string {
  const { idempotency, ordering } = contract
  const key = idempotency?.header ?? idempotency?.pointer ?? idempotency?.query ?? 'none'
  const remembers = idempotency === undefined ? '' : String(idempotency.remembersFor)
  const timed = idempotency !== undefined && !['unstated'].includes(remembers)
  const repeats = timed || ordering?.conditional !== undefined
  return `| [${vendor}](#${anchor(vendor)}) | \`${name}\` | ${key} | ${remembers} | ${repeats ? 'repeated' : 'a person, unless you state more'} |`
}

function section([name, { vendor, contract, about }]: [string, catalogue.CatalogueEntry]): string[] {
  const list = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`**${title}**`, '', ...items.map((item) => `- ${item}`), '']
  return [
    `## ${vendor}`,
    '',
    `\`${name}\` covers ${about.covers}. Checked ${about.checked}: ${about.sources.map((url) => `<${url}>`).join(', ')}`,
    '',
    ...list('Not safe', about.notSafe),
    ...list('Unconfirmed', about.unconfirmed),
    ...list('What the engine does', contractInWords(contract)),
  ]
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}

if (import.meta.main) writeFileSync(recipientsPath, recipientsPage())
