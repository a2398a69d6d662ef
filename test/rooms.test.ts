import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const source = join(import.meta.dirname, '../packages/counterfoil/src')

/** design.md section 7: imports run downward only. A room may import rooms of a lower rank. */
const ranks: Record<string, number> = {
  domain: 0,
  store: 1,
  recipients: 1,
  // Beside the engine: an adapter knows one database client and the port.
  adapters: 2,
  // The same for telemetry.
  opentelemetry: 2,
  engine: 2,
  intake: 3,
  // Above intake, which it hands messages to; a broker each in a folder of its own.
  transports: 3.5,
  // counterfoil.ts and its neighbours: where the ports are wired to the rooms.
  '.': 4,
  frameworks: 5,
  guard: 5,
  operate: 5,
  server: 6,
  testing: 6,
  cli: 7,
}

interface Import {
  readonly from: string
  readonly to: string
}

function imports(): Import[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (f) => f.endsWith('.ts') && !isTest(f),
  )
  return files.flatMap((file) => {
    const text = readFileSync(join(source, file), 'utf8')
    const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1]!)
    return specifiers.map((specifier) => ({
      from: file,
      to: relative(source, join(source, dirname(file), specifier)),
    }))
  })
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('fixtures/') || /^[a-z]+\/conformance/.test(file)
}

function roomOf(file: string): string {
  const room = file.includes('/') ? file.slice(0, file.indexOf('/')) : '.'
  assert.ok(room in ranks, `${file} lies in a room that has no place in the order`)
  return room
}

test('imports between rooms run downward only', () => {
  const upward = imports().filter(({ from, to }) => {
    const [above, below] = [roomOf(from), roomOf(to)]
    return above !== below && ranks[above]! <= ranks[below]!
  })
  assert.deepEqual(upward, [])
})

test('a room is entered through its one public entry', () => {
  const sideDoors = imports().filter(({ from, to }) => {
    const room = roomOf(to)
    return (
      room !== roomOf(from) &&
      room !== '.' &&
      !/^[a-z-]+\/((sqlite|postgres|catalogue|producers|simulator|nats|redis)\/)?index\.ts$/.test(to)
    )
  })
  assert.deepEqual(sideDoors, [])
})

test('no room has a circle', () => {
  const next = new Map<string, string[]>()
  for (const { from, to } of imports()) next.set(from, [...(next.get(from) ?? []), to])
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
    if (done.has(file)) return
    for (const to of next.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of next.keys()) visit(file, [])
})

test('the domain has no dependency but the platform, and does no I/O', () => {
  const files = readdirSync(join(source, 'domain')).filter((file) => file.endsWith('.ts') && !isTest(file))
  for (const file of files) {
    const text = readFileSync(join(source, 'domain', file), 'utf8')
    for (const [, specifier] of text.matchAll(/^import (?!type )[^']*'([^']+)'/gm)) {
      assert.ok(
        specifier!.startsWith('./') || specifier === 'node:crypto',
        `domain/${file} imports ${specifier}`,
      )
    }
    assert.doesNotMatch(
      text,
      /Date\.now\(|Math\.random\(|randomBytes|setTimeout\(|fetch\(/,
      `domain/${file} reaches past its ports`,
    )
  }
})
