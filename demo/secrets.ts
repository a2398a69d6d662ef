/**
 * The secrets that the demo's senders sign with and its server verifies. The environment may replace each, with
 * several separated by commas while one is being rotated; senders then sign with the first.
 */
export const secrets = {
  github: fromEnvironment('GITHUB_WEBHOOK_SECRET', /,/, "It's a Secret to Everybody"),
  standard: fromEnvironment('STANDARD_WEBHOOK_SECRET', /[\s,]+/, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
  stripe: fromEnvironment('STRIPE_WEBHOOK_SECRET', /[\s,]+/, 'whsec_counterfoil_demo'),
}

/** @param separator commas only where a secret is free text and may hold blanks */
function fromEnvironment(name: string, separator: RegExp, otherwise: string): [string, ...string[]] {
  const given = (process.env[name] ?? '')
    .split(separator)
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '')
  const [first = otherwise, ...more] = given
  return [first, ...more]
}
