import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Example, examples } from '../packages/counterfoil/src/intake/fixtures/examples.ts'

/**
 * The tables of docs/producers.md, made of what the kinds say of themselves.
 *
 *     npx node --conditions=counterfoil:source scripts/producer-docs.ts
 */

export const page: string = join(import.meta.dirname, '../docs/producers.md')

const [begin, end] = ['<!-- made by scripts/producer-docs.ts -->', '<!-- end -->']

/** The page as it should be, of the page as it is. */
export function withTables(text: string): string {
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error(`${page} has lost its marks`)
  return `${before}${begin}\n\n${tables()}\n\n${end}${after}`
}

function tables(): string {
  const sections = [
    table('### What is verified', {
      producer: ({ name, call }) => `${name}, \`${call}\``,
      'signed content': ({ kind }) => kind.about.signed,
      freshness: ({ kind }) => kind.about.freshness,
      id: ({ kind }) => kind.about.identity,
      'id signed': ({ kind }) => (kind.about.identitySigned ? 'yes' : '**no**'),
    }),
    table('### What an event says', {
      producer: ({ name }) => name,
      type: ({ kind }) => kind.about.type,
      version: ({ kind }) => kind.about.version ?? 'none',
      volatile: ({ kind }) => kind.volatile.map((pointer) => `\`${pointer}\``).join(', ') || 'none',
      'events a delivery': ({ kind }) => (kind.events === undefined ? 'one' : 'several'),
      ordering: ({ kind }) => kind.about.ordering,
    }),
    table('### How it is sent and answered', {
      producer: ({ name }) => name,
      'sends again': ({ kind }) => kind.about.retries,
      horizon: ({ kind }) => String(kind.retryHorizon),
      handshake: ({ kind }) => kind.about.handshake ?? 'none',
      'expected answer': ({ kind }) => kind.about.expects,
      sources: ({ kind }) => kind.about.sources.map(link).join(', '),
    }),
  ]
  return sections.join('\n\n')
}

function table(title: string, columns: Readonly<Record<string, (example: Example) => string>>): string {
  const names = Object.keys(columns)
  const rows = examples.map((example) =>
    Object.values(columns).map((cell) => cell(example).replaceAll('|', '\\|')),
  )
  const lines = [names, names.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [title, '', ...lines].join('\n')
}

/** An address by its host and last word, so that cells stay narrow. */
function link(source: string): string {
  if (!source.startsWith('https://')) return source
  const { host, pathname } = new URL(source)
  const last = pathname.split('/').filter(Boolean).at(-1)
  return `[${host.replace('www.', '')}${last === undefined ? '' : ` ${last}`}](${source})`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(page, withTables(readFileSync(page, 'utf8')))
}
