import { CounterfoilError } from '../domain/index.ts'
import { type Command, exit } from './command.ts'
import { oneName } from './reading.ts'

/** What can be typed after each word: subcommands, and the options of a whole command. */
type Words = ReadonlyMap<string, readonly string[]>

/** @param commands the table of commands, this one included @param common options that every command takes */
export function completionCommand(commands: () => readonly Command[], common: readonly string[]): Command {
  return {
    name: 'completion',
    summary: 'Print the completion of commands and options for a shell',
    usage: 'counterfoil completion bash|zsh|fish',
    example: 'counterfoil completion bash > /etc/bash_completion.d/counterfoil',
    async run(invocation) {
      const shell = oneName(invocation, 'a shell: bash, zsh or fish')
      const write = shells[shell as keyof typeof shells]
      if (write === undefined) {
        throw new CounterfoilError(
          'usage_invalid',
          `'${shell}' is none of: ${Object.keys(shells).join(', ')}.`,
        )
      }
      const script = write(wordsOf(commands(), common))
      invocation.out.json({ shell, script })
      for (const line of script.trimEnd().split('\n')) invocation.out.line(line)
      return exit.done
    },
  }
}

/** By what stands before: '' for the first word. */
function wordsOf(commands: readonly Command[], common: readonly string[]): Words {
  const words = new Map<string, Set<string>>()
  const add = (before: string, word: string) => words.set(before, (words.get(before) ?? new Set()).add(word))
  for (const { name, options = {} } of commands) {
    const parts = name.split(' ')
    for (const [index, part] of parts.entries()) add(parts.slice(0, index).join(' '), part)
    for (const option of [...Object.keys(options), ...common]) add(name, `--${option}`)
  }
  return new Map([...words].map(([before, after]) => [before, [...after]]))
}

const shells = { bash, zsh, fish }

function bash(words: Words): string {
  const cases = [...words].map(
    ([before, after]) => `    ${quoted(before)}) words=${quoted(after.join(' '))} ;;`,
  )
  return `_counterfoil() {
  local words='' before='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    before="\${before:+$before }$word"
  done
  while :; do
    case "$before" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
    [ -n "$words" ] || [ -z "$before" ] && break
    case "$before" in *' '*) before="\${before% *}" ;; *) before='' ; break ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _counterfoil counterfoil
`
}

/** Zsh runs what is written for bash. */
function zsh(words: Words): string {
  return `#compdef counterfoil
autoload -U +X bashcompinit && bashcompinit
${bash(words)}`
}

function fish(words: Words): string {
  const lines = [...words].flatMap(([before, after]) => {
    const options = after.filter((word) => word.startsWith('--'))
    const next = after.filter((word) => !word.startsWith('--'))
    const condition = quoted(before === '' ? '__fish_use_subcommand' : `__counterfoil_typed ${before}`)
    return [
      ...(next.length === 0
        ? []
        : [`complete -c counterfoil -f -n ${condition} -a ${quoted(next.join(' '))}`]),
      ...options.map((option) => `complete -c counterfoil -n ${condition} -l ${option.slice(2)}`),
    ]
  })
  return `function __counterfoil_typed
  set -l typed (commandline -opc)
  test (count $typed) -gt (count $argv); and test "$typed[2..(math (count $argv) + 1)]" = "$argv"
end
${lines.join('\n')}
`
}

function quoted(text: string): string {
  return `'${text}'`
}
