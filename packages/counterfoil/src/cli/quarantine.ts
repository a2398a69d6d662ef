import { CounterfoilError } from '../domain/index.ts'
import {
  filterNames,
  listQuarantine,
  type NamedFilter,
  readFilter,
  readQuarantinePayload,
  showQuarantine,
} from '../operate/index.ts'
import type { QuarantineStory } from '../store/index.ts'
import { acting, actOf, actOptions, operatorOption, viewerOf } from './acting.ts'
import { type Command, exit, type Invocation, type Output } from './command.ts'
import { inSafeCharacters, table, time } from './print.ts'
import { oneName, pageOf, pageOptions } from './reading.ts'

export const whereOption = { where: { type: 'string', multiple: true } } as const
export const whereUsage = `[--where NAME=VALUE …]  with ${filterNames.join(', ')}`

/** `--where NAME=VALUE`, several times. @throws CounterfoilError `usage_invalid` */
export function whereOf({ options }: Invocation, now: number): NamedFilter {
  const given = Array.isArray(options.where) ? (options.where as readonly string[]) : []
  return readFilter(
    given.map((one): [string, string] => {
      const at = one.indexOf('=')
      if (at < 1) throw new CounterfoilError('usage_invalid', `--where '${one}' is not NAME=VALUE.`)
      return [one.slice(0, at), one.slice(at + 1)]
    }),
    now,
  )
}

export const quarantineList: Command = {
  name: 'quarantine list',
  summary: 'What is authentic but cannot start work, newest first',
  usage: `counterfoil quarantine list ${whereUsage} [--limit N] [--before ID]`,
  example: 'counterfoil quarantine list --where state=waiting --where older=24h --json',
  options: { ...pageOptions, ...whereOption, ...operatorOption },
  run: acting(async (app, invocation) => {
    const { options, out } = invocation
    const query = { ...pageOf(options), ...whereOf(invocation, app.clock.now()) }
    const { entries, next } = await listQuarantine(app, viewerOf(app, invocation), query)
    out.json({ quarantine: entries, next })
    const rows = entries.map((q) => [
      q.id,
      String(q.version),
      time(q.at),
      q.state,
      q.reason,
      q.owner,
      q.assignee ?? '-',
      q.producer,
      q.type,
      q.eventId,
    ])
    const head = 'ENTRY VERSION SINCE STATE REASON OWNER ASSIGNEE PRODUCER TYPE EVENT'.split(' ')
    for (const line of table([head, ...rows])) out.line(line)
    if (next !== null) out.line(`more: --before ${next}`)
    return exit.done
  }),
}

export const quarantineShow: Command = {
  name: 'quarantine show',
  summary: 'One quarantine entry with its reason in full; its payload too for an operator who says why',
  usage: 'counterfoil quarantine show ENTRY [--payload --operator NAME --reason TEXT]',
  example: 'counterfoil quarantine show qua_01KBDZ3V6Q0000000000000000',
  options: { ...actOptions, payload: { type: 'boolean' } },
  run: acting(async (app, invocation) => {
    const id = oneName(invocation, 'a quarantine entry')
    const { options, out } = invocation
    const payload =
      options.payload === true ? await readQuarantinePayload(app, id, actOf(app, invocation)) : undefined
    const story = await showQuarantine(app, viewerOf(app, invocation), id)
    const read =
      payload === undefined
        ? {}
        : {
            payload: payload && {
              contentType: payload.contentType,
              base64: Buffer.from(payload.payload).toString('base64'),
            },
          }
    out.json({ quarantine: story.entry, notes: story.notes, ...read })
    printStory(out, story)
    if (payload === null) out.line('  the payload was removed by retention')
    if (payload) {
      out.line()
      out.line(inSafeCharacters(Buffer.from(payload.payload).toString()))
    }
    return exit.done
  }),
}

export function printStory(out: Output, { entry, notes }: QuarantineStory): void {
  const detail = (about: Readonly<Record<string, unknown>>, indent: string) => {
    for (const [name, value] of Object.entries(about)) {
      out.line(`${indent}${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    }
  }
  out.line(`${entry.id}  ${entry.state}, version ${entry.version}`)
  out.line(`  ${entry.reason} since ${time(entry.at)}, owner ${entry.owner}`)
  out.line(`  ${entry.assignee === null ? 'nobody is assigned' : `assigned to ${entry.assignee}`}`)
  out.line(`  receipt ${entry.receipt}: ${entry.type} ${entry.eventId} of ${entry.producer}`)
  out.line(`  payload ${entry.vault}, sealed`)
  detail(entry.detail, '  ')
  for (const note of notes) {
    out.line(`  ${time(note.at)}  ${note.by}: ${note.reason}`)
    detail(note.detail, '    ')
  }
}
