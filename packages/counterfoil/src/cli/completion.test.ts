import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import type { Command } from './command.ts'
import { completionCommand } from './completion.ts'

const commands: readonly Command[] = [
  { name: 'status', summary: '', usage: '', example: '', run: async () => 0 },
  {
    name: 'effects show',
    summary: '',
    usage: '',
    example: '',
    options: { limit: { type: 'string' } },
    run: async () => 0,
  },
  { name: 'effects list', summary: '', usage: '', example: '', run: async () => 0 },
]

async function scriptOf(shell: string): Promise<string> {
  const lines: string[] = []
  const out = { json: () => {}, progress: () => {}, line: (text = '') => void lines.push(text) }
  const app = () => Promise.reject(new Error('no configuration is needed'))
  await completionCommand(() => commands, ['json']).run({ positionals: [shell], options: {}, app, out })
  return `${lines.join('\n')}\n`
}

/** What bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const script = await scriptOf('bash')
  const asks = `${script}
COMP_WORDS=(counterfoil ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}
_counterfoil
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', asks], { encoding: 'utf8' })
  assert.equal(stderr, '')
  return stdout.split('\n').filter((line) => line !== '')
}

test('bash completes commands, subcommands and options, from the table of commands', async () => {
  assert.deepEqual(await offered(''), ['status', 'effects'])
  assert.deepEqual(await offered('eff'), ['effects'])
  assert.deepEqual(await offered('effects', ''), ['show', 'list'])
  assert.deepEqual(await offered('effects', 's'), ['show'])
  assert.deepEqual(await offered('effects', 'show', '--'), ['--limit', '--json'])
  assert.deepEqual(await offered('effects', 'show', 'eff_1', '--l'), ['--limit'])
  assert.deepEqual(await offered('effects', 'show', '--json', '--l'), ['--limit'])
  assert.deepEqual(await offered('status', '--'), ['--json'])
})

test('zsh and fish get the same words, and another shell is refused', async () => {
  assert.match(await scriptOf('zsh'), /^#compdef counterfoil\n[\s\S]*'effects'\) words='show list'/)
  const fish = await scriptOf('fish')
  assert.match(fish, /-n '__fish_use_subcommand' -a 'status effects'/)
  assert.match(fish, /-n '__counterfoil_typed effects' -a 'show list'/)
  assert.match(fish, /-n '__counterfoil_typed effects show' -l limit/)
  await assert.rejects(scriptOf('tcsh'), { code: 'usage_invalid' })
})
