import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { cardOf, GitHubPayload, gitHubTypes } from './github-events.ts'

/** A real payload that GitHub once sent. */
export interface Example {
  readonly type: string
  readonly payload: Readonly<Record<string, any>>
  readonly reference: string
}

/** Every example of a type; the package holds real payloads, collected by its contributors. */
export function examplesOf(type: string): readonly Record<string, any>[] {
  const require = createRequire(import.meta.url)
  const collected = require('@octokit/webhooks-examples') as readonly {
    readonly name: string
    readonly examples: readonly Record<string, any>[]
  }[]
  return collected.find(({ name }) => name === type)?.examples ?? []
}

/**
 * One example of each operation that the demo knows, a type at a time in turn. The collection holds most of
 * them in several variants, such as with and without the organization.
 *
 * @param rename another name for their repositories, so that a second run is about other operations
 */
export function differentExamples(rename: (repository: string) => string): Example[] {
  const known = new Set<string>()
  const byType = gitHubTypes.map((type) =>
    examplesOf(type).flatMap((original) => {
      const example = asExample(type, original, rename)
      if (known.has(example.reference)) return []
      known.add(example.reference)
      return [example]
    }),
  )
  const longest = Math.max(...byType.map((examples) => examples.length))
  return Array.from({ length: longest }, (_, turn) =>
    byType.flatMap((examples) => examples[turn] ?? []),
  ).flat()
}

function asExample(
  type: string,
  original: Readonly<Record<string, any>>,
  rename: (repository: string) => string,
): Example {
  const repository = original.repository as { full_name: string } | undefined
  const payload =
    repository === undefined
      ? original
      : { ...original, repository: { ...repository, full_name: rename(repository.full_name) } }
  const fingerprint = createHash('sha256').update(JSON.stringify(payload)).digest('hex')
  return { type, payload, reference: cardOf(type, GitHubPayload.parse(payload), fingerprint).reference }
}
