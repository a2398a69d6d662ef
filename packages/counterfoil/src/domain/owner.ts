/** Who looks after what: the first rule that fits decides. */
export interface OwnerRule {
  /** Default: every producer. */
  readonly producer?: string
  /** A type, or the beginning of one with `*` behind it: `invoice.*`. Default: every type. */
  readonly type?: string
  readonly owner: string
}

/** @returns undefined when no rule fits */
export function ownerByRule(rules: readonly OwnerRule[], producer: string, type: string): string | undefined {
  return rules.find((rule) => (rule.producer ?? producer) === producer && fits(rule.type, type))?.owner
}

function fits(pattern: string | undefined, type: string): boolean {
  if (pattern === undefined || pattern === type) return true
  return pattern.endsWith('*') && type.startsWith(pattern.slice(0, -1))
}
