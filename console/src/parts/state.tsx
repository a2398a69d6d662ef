/** What a state looks like: a sign of its own beside its colour, so that colour never speaks alone. */
const looks = {
  confirmed: ['good', '✓'],
  planned: ['open', '○'],
  accepted: ['open', '○'],
  attempting: ['open', '◐'],
  unknown: ['doubt', '?'],
  waiting: ['doubt', '…'],
  quarantined: ['doubt', '…'],
  notActed: ['open', '○'],
  refused: ['bad', '✕'],
  failed: ['bad', '✕'],
  disputed: ['bad', '!'],
  fenced: ['set', '⊘'],
  withdrawn: ['set', '⊘'],
  dismissed: ['set', '⊘'],
  released: ['good', '→'],
  done: ['good', '✓'],
  running: ['open', '◐'],
  paused: ['doubt', '‖'],
  approved: ['open', '○'],
  halted: ['bad', '!'],
} as const satisfies Record<string, readonly [string, string]>

export function State({ of }: { readonly of: string }) {
  const [look, sign] = looks[of as keyof typeof looks] ?? ['set', '·']
  return (
    <span class={`state is-${look}`}>
      <span class="state-sign" aria-hidden="true">
        {sign}
      </span>
      {of}
    </span>
  )
}
