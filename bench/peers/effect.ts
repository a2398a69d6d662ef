import { Agent, request } from 'undici'
import type { Body, Place } from './contender.ts'

/** The effect that the peers run: nothing, or one POST of the body with its key, as Counterfoil sends it. */
export interface Effect {
  run(body: Body): Promise<void>
  close(): Promise<void>
}

export function effectOf({ sink }: Place, acted: () => void): Effect {
  if (sink === null) return { run: async () => acted(), close: async () => {} }
  const dispatcher = new Agent({ connections: 64, pipelining: 1 })
  const url = `${sink}/collect`
  return {
    async run(body) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': body.id }
      const answer = await request(url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        dispatcher,
      })
      await answer.body.dump()
      if (answer.statusCode !== 200) throw new Error(`the sink answered ${answer.statusCode}`)
      acted()
    },
    close: () => dispatcher.close(),
  }
}
