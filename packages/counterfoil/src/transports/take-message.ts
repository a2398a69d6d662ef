import type { Clock } from '../domain/index.ts'
import type { Arrival } from '../intake/index.ts'
import type { BrokerMessage, TakeMessage, Verdict } from './consumer.ts'

/** First and last wait before a message that could not be committed comes again; it doubles from one to the other. */
export const againMs = { first: 500, last: 60_000 } as const

/** Answers that say "not now": our own fault, or too much at once. Anything else that is no 2xx is final. */
const passing = [408, 425, 429, 503]

/**
 * A message on the way of every other delivery (design.md section 3, Intake): limits, verification, receipt. It is
 * acknowledged at the broker only where a sender over HTTP would be: after the commit.
 *
 * @param name of the producer: the namespace, which no message can choose
 */
export function takeMessage(name: string, receive: (arrival: Arrival) => Promise<Response>): TakeMessage {
  return async (message) => await verdictOf(await receive(arrivalOf(name, message)), message)
}

async function verdictOf(answer: Response, { deliveries }: BrokerMessage): Promise<Verdict> {
  if (answer.ok) return { kind: 'acknowledge' }
  if (passing.includes(answer.status)) {
    const asked = Number(answer.headers.get('retry-after') ?? 0) * 1000
    const backOff = Math.min(againMs.first * 2 ** Math.min(deliveries - 1, 20), againMs.last)
    return { kind: 'again', afterMs: Math.max(asked, backOff) }
  }
  const problem = (await answer.json().catch(() => ({}))) as { code?: string; detail?: string }
  return {
    kind: 'reject',
    code: problem.code ?? 'internal',
    why: problem.detail ?? `answered ${answer.status}`,
  }
}

/** The message as a delivery that is whole already. */
function arrivalOf(name: string, { headers, body }: BrokerMessage): Arrival {
  return {
    method: 'POST',
    url: `/in/${name}`,
    scheme: 'broker',
    header: (header) => (Object.hasOwn(headers, header) ? headers[header]! : null),
    headers: () => Object.entries(headers),
    headersFit: () => true,
    readBody: async ({ maxBytes }, _clock: Clock) =>
      body.byteLength > maxBytes
        ? { kind: 'refused', code: 'body_too_large', why: `the message is larger than ${maxBytes} bytes` }
        : { kind: 'read', body },
  }
}
