import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { examples, playExample } from './run.ts'

/** What each has to say at its end, whatever order the rest came in. */
const says: Readonly<Record<string, readonly RegExp[]>> = {
  'stripe-provisioning': [
    /^ {2}202 accepted[\s\S]*$/m,
    /200 duplicate[\s\S]*200 duplicate/,
    /attempt 1: unknown, no complete answer/,
    /attempt \d: confirmed/,
    /Seats opened: 1\./,
    /401: nothing is stored/,
  ],
  'github-deploy': [/attempt 1: unknown/, /attempt \d: fenced/, /lookup: .* → refused/, /Live: bbb\./],
  'saas-email': [
    /lookup: the log has it → confirmed/,
    /lookup: not in the log.* → unknown\n {4}now unknown/,
    /Mails that are out: 1\./,
  ],
  'two-services': [/attempt 1: unknown/, /replayed: true/, /Pieces reserved: 3\./],
  monolith: [
    /charges for order 'old': [23]/,
    /parcels of order '7': 1/,
    /attempt 1: unknown/,
    /charges for order 'new': 1/,
  ],
}

describe('the example', { concurrency: true }, () => {
  for (const name of examples) {
    test(`${name} comes to its end, and says what happened`, async () => {
      const lines: string[] = []
      await playExample(name, (line) => void lines.push(line))
      const story = lines.join('\n')
      assert.ok(says[name], 'what it is to say is written down')
      for (const pattern of says[name]) assert.match(story, pattern)
    })
  }
})

test('there is a page for each example, and a command', () => {
  const overview = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  for (const name of examples) {
    assert.match(overview, new RegExp(`npm run example ${name}\``))
    const files = readdirSync(join(import.meta.dirname, name))
    for (const file of ['README.md', 'app.ts', 'main.ts']) assert.ok(files.includes(file), `${name}/${file}`)
    assert.match(
      readFileSync(join(import.meta.dirname, name, 'README.md'), 'utf8'),
      new RegExp(`npm run example ${name}$`, 'm'),
    )
  }
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    scripts: { example: string }
  }
  const listed = execFileSync(process.execPath, scripts.example.split(' ').slice(1), {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  })
  for (const name of examples) assert.ok(listed.includes(name))
})
