import { z } from 'zod'
import { type KeyPart, semanticKey } from './effect-key.ts'

/** What a GitHub event is about: its effect key, and a title for people. */
export interface Card {
  readonly reference: string
  readonly title: string
}

const id = z.union([z.number(), z.string()]).nullish()
const text = z.string().nullish()
const person = z.object({ login: text }).nullish()

/** Only what keys and titles are made of, and nothing of it required: what is missing, the content itself replaces. */
export const GitHubPayload = z.object({
  action: text,
  ref: text,
  ref_type: text,
  before: text,
  after: text,
  starred_at: text,
  head_commit: z.object({ message: text }).nullish(),
  repository: z.object({ full_name: text, pushed_at: z.union([z.string(), z.number()]).nullish() }).nullish(),
  sender: person,
  assignee: person,
  requested_reviewer: person,
  label: z.object({ name: text }).nullish(),
  milestone: z.object({ number: id }).nullish(),
  issue: z.object({ number: id, title: text, updated_at: text }).nullish(),
  comment: z.object({ id, updated_at: text }).nullish(),
  pull_request: z.object({ number: id, title: text, updated_at: text }).nullish(),
  review: z.object({ id }).nullish(),
  release: z.object({ id, tag_name: text, published_at: text }).nullish(),
  forkee: z.object({ id, full_name: text }).nullish(),
  check_run: z.object({ id, name: text, conclusion: text, completed_at: text }).nullish(),
  workflow_run: z.object({ id, name: text, conclusion: text, run_attempt: id }).nullish(),
  deployment: z.object({ id, environment: text }).nullish(),
  deployment_status: z.object({ id, state: text }).nullish(),
})
export type GitHubPayload = z.infer<typeof GitHubPayload>

/**
 * What each event is about, inside its repository. What happens once in the life of its subject needs no
 * revision; what can happen again carries the time or the commit that tells one from the next. Where the
 * payload holds none, `undefined` lets the content stand in.
 */
const subjects: Readonly<Record<string, (event: GitHubPayload) => readonly KeyPart[]>> = {
  push: (e) => ['push', ...refOf(e), e.before && e.after ? `${e.before}..${e.after}` : e.after],
  issues: (e) => ['issues', e.issue?.number, e.action, ...revision(e, e.issue?.updated_at)],
  issue_comment: (e) => [
    'issues',
    e.issue?.number,
    'comments',
    e.comment?.id,
    e.action,
    ...revision(e, e.comment?.updated_at),
  ],
  pull_request: (e) => [
    'pull',
    e.pull_request?.number,
    e.action,
    ...revision(e, e.action === 'synchronize' ? e.after : e.pull_request?.updated_at),
  ],
  pull_request_review: (e) => [
    'pull',
    e.pull_request?.number,
    'reviews',
    e.review?.id,
    e.action,
    ...revision(e, undefined),
  ],
  release: (e) => ['releases', e.release?.id, e.action, ...revision(e, releaseRevision(e))],
  create: (e) => [e.ref_type, ...refOf(e), 'created', e.repository?.pushed_at],
  delete: (e) => [e.ref_type, ...refOf(e), 'deleted', e.repository?.pushed_at],
  fork: (e) => ['forks', e.forkee?.id],
  star: (e) => ['stargazers', e.sender?.login, e.action, e.starred_at],
  watch: (e) => ['watchers', e.sender?.login, e.action, undefined],
  check_run: (e) => ['check-runs', e.check_run?.id, e.action, ...checkRunRevision(e)],
  workflow_run: (e) => [
    'workflow-runs',
    e.workflow_run?.id,
    'attempt',
    e.workflow_run?.run_attempt,
    e.action,
  ],
  deployment: (e) => ['deployments', e.deployment?.id, e.action],
  deployment_status: (e) => ['deployments', e.deployment?.id, 'statuses', e.deployment_status?.id, e.action],
}

/** Types that pin a card. `ping` is supported too, and plans nothing. */
export const gitHubTypes: readonly string[] = Object.keys(subjects)

/** @param fingerprint of the whole payload */
export function cardOf(type: string, event: GitHubPayload, fingerprint: string): Card {
  const repository = event.repository?.full_name
  const inRepository = repository ? repository.split('/') : [undefined]
  const subject = subjects[type]?.(event) ?? [type, undefined]
  return {
    reference: semanticKey(['github', ...inRepository, ...subject], fingerprint),
    title: titleOf(type, event),
  }
}

/** Actions that happen at most once to an issue, a comment, a pull request, a review or a release. */
const onceOnly = new Set(['opened', 'created', 'submitted', 'dismissed', 'deleted', 'transferred'])

function revision(event: GitHubPayload, at: KeyPart): readonly KeyPart[] {
  if (onceOnly.has(event.action ?? '')) return []
  // Two labels that are put on in the same second are two events.
  const which = event.label?.name ?? event.assignee?.login ?? event.requested_reviewer?.login
  const what = which ?? event.milestone?.number
  return what === null || what === undefined ? [at] : [what, at]
}

function releaseRevision({ action, release }: GitHubPayload): KeyPart {
  return action === 'edited' ? undefined : release?.published_at
}

/** A check run can be completed again, with another conclusion. */
function checkRunRevision({ action, check_run }: GitHubPayload): readonly KeyPart[] {
  if (action === 'created') return []
  return action === 'completed' ? [check_run?.conclusion, check_run?.completed_at] : [undefined]
}

function refOf({ ref }: GitHubPayload): readonly KeyPart[] {
  return ref ? ref.split('/') : [undefined]
}

function titleOf(type: string, e: GitHubPayload): string {
  const number = e.issue?.number ?? e.pull_request?.number
  const what = [type.replaceAll('_', ' '), number, e.action].filter(
    (word) => word !== null && word !== undefined,
  )
  const about = [
    e.issue?.title ?? e.pull_request?.title,
    e.release?.tag_name,
    e.forkee?.full_name,
    // Deployments name the runs that made them, in some payloads and not in others.
    type === 'check_run' ? e.check_run?.name : undefined,
    type === 'workflow_run' ? e.workflow_run?.name : undefined,
    e.action === 'completed' ? (e.check_run ?? e.workflow_run)?.conclusion : undefined,
    e.deployment?.environment,
    e.deployment_status?.state,
    e.ref,
    e.head_commit?.message?.split('\n', 1)[0],
  ].filter((word) => word)
  const title = about.length === 0 ? what.join(' ') : `${what.join(' ')}: ${about.join(', ')}`
  return title.slice(0, 200).toWellFormed()
}
