import type { TestContext } from 'node:test'

/**
 * Skips a test that this machine cannot run, and says why. In CI a skipped test is a failed one, unless
 * `COUNTERFOIL_ALLOW_SKIPS` is set: nobody should believe that it ran.
 */
export function skipLoudly(t: TestContext, why: string): void {
  const { CI, COUNTERFOIL_ALLOW_SKIPS } = process.env
  if (CI && !COUNTERFOIL_ALLOW_SKIPS) {
    throw new Error(`'${t.name}' cannot run here: ${why}. Set COUNTERFOIL_ALLOW_SKIPS to go on without it.`)
  }
  process.stderr.write(`SKIPPED '${t.name}': ${why}\n`)
  t.skip(why)
}
