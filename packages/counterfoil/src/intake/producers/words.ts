/** What the facts of several producers say in the same words (`OfflineKind.about`). */

export const unordered = 'none'
export const noFreshness = 'none: no time is signed'
