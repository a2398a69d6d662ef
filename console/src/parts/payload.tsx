import { Json } from './facts.tsx'

/** What reading a payload answers. */
export interface Read {
  readonly contentType: string | null
  /** Null when retention removed it. */
  readonly base64: string | null
}

interface Props {
  readonly read: Read | undefined
  readonly mayRead: boolean
  readonly onAsk: () => void
  readonly name?: 'payload' | 'request'
}

/** A payload that stays covered until somebody says why it has to be seen. */
export function Payload({ read, mayRead, onAsk, name = 'payload' }: Props) {
  if (read === undefined) {
    return (
      <div class="covered">
        <span aria-hidden="true">▒▒▒▒▒▒ ▒▒▒ ▒▒▒▒▒▒▒▒ ▒▒▒▒</span>
        <button type="button" class="button" disabled={!mayRead} onClick={onAsk}>
          Read the {name} …
        </button>
      </div>
    )
  }
  if (read.base64 === null) return <p class="empty">Retention removed it; its fingerprint is kept.</p>
  return <Json of={textOf(read.base64)} />
}

function textOf(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  const text = new TextDecoder().decode(bytes)
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
