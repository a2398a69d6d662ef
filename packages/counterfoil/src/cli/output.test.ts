import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outputTo } from './output.ts'

const esc = String.fromCharCode(0x1b)

function screens(isTTY: boolean, about: { json?: boolean; env?: Record<string, string> } = {}) {
  const written: string[] = []
  const screen = { isTTY, columns: 80, write: (text: string) => written.push(text) }
  const out = outputTo(screen, screen, { json: about.json ?? false, env: about.env ?? {} })
  return { out, written }
}

test('a style is seen on a terminal, and nowhere else', () => {
  const onTerminal = screens(true)
  onTerminal.out.line('unknown', 'warning')
  assert.deepEqual(onTerminal.written, [`${esc}[33munknown${esc}[39m\n`])
  for (const [isTTY, env] of [
    [false, {}],
    [true, { NO_COLOR: '1' }],
    [true, { TERM: 'dumb' }],
  ] as const) {
    const { out, written } = screens(isTTY, { env })
    out.line('unknown', 'warning')
    assert.deepEqual(written, ['unknown\n'])
  }
  const empty = screens(true, { env: { NO_COLOR: '' } })
  empty.out.line('x', 'bad')
  assert.match(empty.written[0]!, /31m/)
})

test('what strangers wrote speaks to no terminal, styled or not', () => {
  const { out, written } = screens(true)
  out.line(`evil ${esc}[2J\r`, 'bad')
  out.line(`evil ${esc}[2J`)
  const [styled = ''] = written
  assert.equal(styled.replace(`${esc}[31m`, '').replace(`${esc}[39m`, '').includes(esc), false)
  assert.match(written[1]!, /evil \\u\{1b\}\[2J/)
})

test('progress is one line that is written over, for a person who looks', () => {
  const { out, written } = screens(true)
  out.progress(50, 200)
  assert.match(written[0]!, /^█{8}░{22} 25 % {2}50 of 200$/)
  out.progress(1_500, null)
  assert.equal(written.at(-1), '1,500 done')
  out.line('done')
  assert.match(written.at(-2)!, /^\r +\r$/)
  assert.equal(written.at(-1), 'done\n')
  const piped = screens(false)
  piped.out.progress(1, 2)
  assert.deepEqual(piped.written, [])
})

test('under --json there is one document and no line', () => {
  const { out, written } = screens(true, { json: true })
  out.line('for people', 'good')
  out.json({ at: 0, name: 'x' })
  assert.deepEqual(written, ['{\n  "at": "1970-01-01T00:00:00.000Z",\n  "name": "x"\n}\n'])
})
