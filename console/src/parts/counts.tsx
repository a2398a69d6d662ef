/** Names with their counts, most first. */
export function Counts({
  title,
  of,
}: {
  readonly title: string
  readonly of: Readonly<Record<string, number>>
}) {
  const entries = Object.entries(of).sort(([, a], [, b]) => b - a)
  if (entries.length === 0) return null
  return (
    <p class="counts">
      <span class="faint">{title}</span>
      {entries.map(([name, count]) => (
        <span key={name} class="count">
          {name} <b>{count}</b>
        </span>
      ))}
    </p>
  )
}
