import { useLocation } from 'preact-iso'

export function SearchField() {
  const { query, route, path } = useLocation()
  const submit = (event: Event) => {
    event.preventDefault()
    const asked = new FormData(event.currentTarget as HTMLFormElement).get('q')
    const text = String(asked ?? '').trim()
    if (text !== '') route(`/console/search?q=${encodeURIComponent(text)}`)
  }
  return (
    <search class="search">
      <form onSubmit={submit}>
        <label class="hidden" for="search">
          Search by id, effect key, idempotency key, correlation or fingerprint
        </label>
        <input
          id="search"
          key={path === '/console/search' ? query.q : ''}
          name="q"
          type="search"
          defaultValue={path === '/console/search' ? query.q : ''}
          placeholder="Id, effect key, correlation, fingerprint …"
          autocomplete="off"
          spellcheck={false}
        />
        <kbd>/</kbd>
      </form>
    </search>
  )
}
