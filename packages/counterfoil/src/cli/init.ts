import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { CounterfoilError } from '../domain/index.ts'
import { type Command, exit } from './command.ts'
import {
  configFile,
  environmentFile,
  ignoreFile,
  packageFile,
  senderFile,
  serviceFile,
  whatIsMissing,
} from './project.ts'

export const init: Command = {
  name: 'init',
  summary: 'Make a project that works: a configuration, its secrets, and a script that sends it an event',
  usage: 'counterfoil init [DIRECTORY]',
  example: 'counterfoil init shop && cd shop && npm install && npx counterfoil serve',
  async run({ positionals, out }) {
    const [given = '.', ...more] = positionals
    if (more.length > 0) throw new CounterfoilError('usage_invalid', 'Name one directory, or none.')
    const directory = resolve(given)
    const files: Readonly<Record<string, string>> = {
      'counterfoil.config.ts': configFile,
      'send.ts': senderFile,
      'mail-service.ts': serviceFile,
      'package.json': packageFile(basename(directory)),
      '.env': environmentFile(randomBytes(24), randomBytes(32)),
      '.gitignore': ignoreFile,
    }
    const there = Object.keys(files).filter((name) => existsSync(join(directory, name)))
    if (there.includes('counterfoil.config.ts')) {
      throw new CounterfoilError('usage_invalid', `There is a counterfoil.config.ts in ${directory}.`, {
        hint: 'Nothing was changed. Name another directory.',
      })
    }
    mkdirSync(directory, { recursive: true })
    const made = Object.keys(files).filter((name) => !there.includes(name))
    for (const name of made) {
      // Never over a file of somebody else's; secrets are for their owner alone.
      writeFileSync(join(directory, name), files[name]!, {
        flag: 'wx',
        mode: name === '.env' ? 0o600 : 0o644,
      })
    }
    out.json({ directory, made, kept: there })
    for (const name of made) out.line(`made  ${name}`, 'good')
    for (const name of there) out.line(`kept  ${name}: it was there, and is as it was`, 'warning')
    out.line()
    out.line('Next:')
    if (given !== '.') out.line(`  cd ${given}`)
    const kept = there.includes('package.json')
    const commands = kept
      ? whatIsMissing(readFileSync(join(directory, 'package.json'), 'utf8'))
      : ['npm install']
    for (const command of commands) out.line(`  ${command}`)
    out.line('  npx counterfoil check     what the engine does at each recipient, in words')
    out.line('  node mail-service.ts      the recipient; it loses its first answers')
    out.line('  npx counterfoil serve     in another terminal: receives and works until stopped')
    out.line('  node send.ts 7            in a third one: sends an event, twice')
    out.line('  npx counterfoil effects show order/7/receipt/revision/1')
    return exit.done
  },
}
