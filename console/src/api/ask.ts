/** What the server refused, in its own words (RFC 9457), or that it could not be reached. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The session is over: somebody has to sign in again. */
export const signedOutEvent = 'counterfoil:signed-out'

/** @param poll asked by the page itself, which keeps no session alive */
export async function ask<Answer>(path: string, { poll = false, signal }: Asking = {}): Promise<Answer> {
  return await send(path, {
    headers: { 'x-counterfoil-console': poll ? 'poll' : 'act' },
    ...(signal === undefined ? {} : { signal }),
  })
}

export async function tell<Answer>(path: string, body: object, method = 'POST'): Promise<Answer> {
  return await send(path, {
    method,
    headers: { 'x-counterfoil-console': 'act', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

interface Asking {
  readonly poll?: boolean
  readonly signal?: AbortSignal
}

async function send<Answer>(path: string, init: RequestInit): Promise<Answer> {
  let response: Response
  try {
    response = await fetch(path, { ...init, credentials: 'same-origin' })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Problem(0, 'unreachable', 'The server does not answer.')
  }
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  const body: any = isJson ? await response.json() : null
  if (response.ok) return body
  const isSession = path.startsWith('/console/session')
  if (response.status === 401 && !isSession) window.dispatchEvent(new Event(signedOutEvent))
  throw new Problem(
    response.status,
    body?.code ?? 'internal',
    body?.detail ?? body?.title ?? response.statusText,
  )
}
