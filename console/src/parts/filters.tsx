import { useLocation } from 'preact-iso'

export interface Filter {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly choices?: readonly string[]
}

interface Props {
  readonly of: readonly Filter[]
  readonly given: Readonly<Record<string, string>>
}

/** What a list is narrowed by. It stands in the address, so a view can be sent to somebody. */
export function Filters({ of, given }: Props) {
  const { path, route } = useLocation()
  const submit = (form: HTMLFormElement) => {
    const chosen = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()] as const)
    const query = new URLSearchParams(Object.fromEntries(chosen.filter(([, value]) => value !== '')))
    route(`${path}?${query}`)
  }
  return (
    <form
      class="filters"
      aria-label="Filters"
      onChange={(event) => submit(event.currentTarget)}
      onSubmit={(event) => {
        event.preventDefault()
        submit(event.currentTarget)
      }}
    >
      {of.map(({ name, label, hint, choices }) => (
        <div key={name} class="filter">
          <label for={`filter-${name}`}>{label}</label>
          {choices === undefined ? (
            <input
              id={`filter-${name}`}
              name={name}
              defaultValue={given[name] ?? ''}
              placeholder={hint ?? 'any'}
              spellcheck={false}
            />
          ) : (
            <select id={`filter-${name}`} name={name} value={given[name] ?? ''}>
              {!(name === 'state' && choices.includes('waiting')) && <option value="">any</option>}
              {choices.map((choice) => (
                <option key={choice} value={choice}>
                  {choice}
                </option>
              ))}
            </select>
          )}
        </div>
      ))}
    </form>
  )
}
