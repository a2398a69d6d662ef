import { useLocation } from 'preact-iso'

/** On to older records, and back to the newest. */
export function Pager({ next }: { readonly next: string | number | null }) {
  const { path, query } = useLocation()
  const to = (before?: string) => {
    const { before: _, ...rest } = query
    return `${path}?${new URLSearchParams(before === undefined ? rest : { ...rest, before })}`
  }
  if (next === null && query.before === undefined) return null
  return (
    <nav class="pager" aria-label="Pages of this list">
      {query.before !== undefined && <a href={to()}>← newest</a>}
      {next !== null && <a href={to(String(next))}>older →</a>}
    </nav>
  )
}
