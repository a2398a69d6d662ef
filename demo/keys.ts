/**
 * Semantic effect keys: what the operation is about, never the id of a delivery. Where a payload lacks the
 * facts, its fingerprint stands in: the same content is then the same operation.
 */

export const githubTypes = [
  'ping',
  'push',
  'issues',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'release',
  'create',
  'delete',
  'fork',
  'star',
  'watch',
  'check_run',
  'workflow_run',
  'deployment',
  'deployment_status',
] as const

export const standardTypes = [
  'invoice.created',
  'invoice.paid',
  'order.created',
  'order.paid',
  'payment.succeeded',
  'user.created',
  'user.updated',
  'contact.created',
  'contact.updated',
] as const

export const stripeTypes = [
  'invoice.paid',
  'invoice.payment_succeeded',
  'payment_intent.succeeded',
  'charge.succeeded',
  'charge.refunded',
  'checkout.session.completed',
  'customer.created',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
] as const

type Payload = Readonly<Record<string, unknown>>

/** `github/OWNER/REPO/issues/7/opened`; what may happen again carries its content. */
export function githubKey(type: string, payload: Payload, fingerprint: string): string {
  const place = `github/${text(member(payload, 'repository', 'full_name')) ?? 'unknown'}/${type}`
  const action = text(payload.action)
  if (type === 'push') {
    const after = text(payload.after)
    return after === undefined
      ? `${place}/${short(fingerprint)}`
      : `${place}/${text(payload.ref) ?? 'ref'}/${after}`
  }
  const subject = subjectOf(type, payload)
  if (subject === undefined) return `${place}/${short(fingerprint)}`
  // Opened once; anything else can happen again to the same subject, so its content is its revision.
  const once = action === 'opened'
  return [place, subject, action ?? 'done', ...(once ? [] : [short(fingerprint)])].join('/')
}

/** `standard/invoice.paid/in_1`; a record that may change again carries its content. */
export function recordKey(producer: string, type: string, data: Payload, fingerprint: string): string {
  const id = text(data.id)
  if (id === undefined) return `${producer}/${type}/${short(fingerprint)}`
  return /updated$/.test(type)
    ? `${producer}/${type}/${id}/${short(fingerprint)}`
    : `${producer}/${type}/${id}`
}

/** The number or id of what the event is about. */
function subjectOf(type: string, payload: Payload): string | undefined {
  const about: Record<string, readonly string[]> = {
    issues: ['issue', 'number'],
    issue_comment: ['comment', 'id'],
    pull_request: ['pull_request', 'number'],
    pull_request_review: ['review', 'id'],
    release: ['release', 'id'],
    check_run: ['check_run', 'id'],
    workflow_run: ['workflow_run', 'id'],
    deployment: ['deployment', 'id'],
    deployment_status: ['deployment_status', 'id'],
    fork: ['forkee', 'id'],
  }
  return text(member(payload, ...(about[type] ?? ['none'])))
}

function member(value: unknown, ...path: readonly string[]): unknown {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Payload)[name]
  }
  return at
}

/** Text or a number, bounded so that a key stays one. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number'
    ? plain(String(value)) || undefined
    : undefined
}

function short(fingerprint: string): string {
  return fingerprint.slice(fingerprint.indexOf(':') + 1).slice(0, 32)
}

/** Bounded, and without what no key may hold. */
function plain(text: string): string {
  return text
    .slice(0, 150)
    .replaceAll(/\p{Cc}/gu, '?')
    .toWellFormed()
}
