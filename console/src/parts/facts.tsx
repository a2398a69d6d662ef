import type { ComponentChildren } from 'preact'

/** Names and what stands beside them; what is null is left out. */
export function Facts({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: ComponentChildren])[]
}) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** Any JSON value as text; nothing in it is ever markup. */
export function Json({ of }: { readonly of: unknown }) {
  return <pre class="json">{typeof of === 'string' ? of : JSON.stringify(of, null, 2)}</pre>
}
