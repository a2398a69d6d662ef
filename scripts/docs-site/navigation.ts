/** What the site holds and in which order. */

export interface Section {
  readonly title: string
  /** Files, relative to docs/. */
  readonly pages: readonly string[]
}

const sections: readonly Section[] = [
  { title: 'Start', pages: ['README.md', 'problem.md', 'quick-start.md', 'design.md'] },
  {
    title: 'Guides',
    pages: [
      'guides/receive.md',
      'guides/effect-key.md',
      'guides/recipient-contract.md',
      'guides/unknown.md',
      'guides/ordered-update.md',
      'guides/guard-a-service.md',
      'transactions.md',
      'frameworks.md',
      'jobs.md',
      'guides/move-to-postgresql.md',
      'backfill.md',
      'guides/test.md',
      'guides/upgrade.md',
    ],
  },
  {
    title: 'Reference',
    pages: [
      'intake.md',
      'producers.md',
      'cloudevents.md',
      'transports.md',
      'quarantine.md',
      'contracts.md',
      'recipients.md',
      'guard.md',
      'postgres.md',
      'retention.md',
      'simulator.md',
      'cli.md',
      'api.md',
      'errors.md',
      'versions.md',
    ],
  },
  { title: 'Operate', pages: ['runbooks.md', 'console.md', 'telemetry.md', 'scale.md'] },
  {
    title: 'Proof',
    pages: ['promises.md', 'proof.md', 'threat-model.md', 'comparison.md', 'performance.md'],
  },
  { title: 'Project', pages: ['../CONTRIBUTING.md', '../CHANGELOG.md'] },
]

/** @param files all pages of docs/; those that no section names stand at the end of the reference */
export function sectionsOf(files: readonly string[]): Section[] {
  const named = sections.flatMap(({ pages }) => pages)
  const others = files.filter((file) => !named.includes(file))
  return sections.map(({ title, pages }) => ({
    title,
    pages: title === 'Reference' ? [...pages, ...others] : pages,
  }))
}

/** Where a page lies in the site: `guides/receive.md` → `guides/receive.html`, a README → `index.html`. */
export function addressOf(file: string): string {
  return file
    .replace(/^(\.\.\/)+/, '')
    .replace(/README\.md$/, 'index.html')
    .replace(/\.md$/, '.html')
}
