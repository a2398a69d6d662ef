/** What the examples stand on: a place for files, real HTTP servers on this machine, and a look into the ledger. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Counterfoil } from 'counterfoil'

/** Prints one line of the story. */
export type Say = (line: string) => void

/** A part of the stage, and how it is taken down. */
export interface Listening {
  readonly url: string
  stop(): Promise<void>
}

/** Any free port of this machine. */
export async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A directory of its own, gone afterwards; what was opened last is stopped first, whatever happened. */
export async function onStage(
  play: (
    place: (name: string) => string,
    keep: <Part extends { stop(): unknown }>(part: Part) => Part,
  ) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-example-'))
  const parts: { stop(): unknown }[] = []
  try {
    await play(
      (name) => join(directory, name),
      (part) => {
        parts.unshift(part)
        return part
      },
    )
  } finally {
    for (const part of parts) await part.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Waits until it holds; an example that waits in vain fails. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 1_500; looks++) {
    if (await holds()) return
    await pause(20)
  }
  throw new Error(`in vain: ${what}`)
}

export type EffectState = Awaited<ReturnType<Counterfoil['store']['showEffects']>>[number]['effect']['state']

/** Waits until the effect of this key is in one of these states. */
export async function untilEffect(
  app: Pick<Counterfoil<any>, 'store'>,
  key: string,
  ...states: readonly EffectState[]
): Promise<void> {
  await until(`'${key}' is ${states.join(' or ')}`, async () => {
    const [story] = await app.store.showEffects(key)
    return story !== undefined && states.includes(story.effect.state)
  })
}

/** The ledger's own words on an effect: each attempt, what else was learned, and where that leaves it. */
export async function tell(app: Pick<Counterfoil<any>, 'store'>, key: string, say: Say): Promise<void> {
  for (const { effect } of await app.store.showEffects(key)) {
    say(`  ledger, ${effect.key}:`)
    for (const { number, outcome, why } of effect.attempts)
      say(`    attempt ${number}: ${outcome ?? 'in flight'}${why === null ? '' : `, ${why}`}`)
    for (const { kind, why, to } of effect.evidence) say(`    ${kind}: ${why} → ${to}`)
    say(`    now ${effect.state}${effect.escalated ? '; a person has to look' : ''}`)
  }
}

/** The body of a request as text. */
export async function textOf(request: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
