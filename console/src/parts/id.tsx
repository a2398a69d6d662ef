import { useState } from 'preact/hooks'

/** An id or key, whole, with a button that copies it. */
export function Id({ of, label = 'id' }: { readonly of: string; readonly label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(of)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_500)
  }
  return (
    <span class="id">
      <code>{of}</code>
      <button type="button" class="copy" aria-label={`Copy ${label} ${of}`} onClick={copy}>
        {copied ? 'copied' : 'copy'}
      </button>
    </span>
  )
}
