import { useEffect, useRef, useState } from 'preact/hooks'
import type { Operator } from '../../../packages/counterfoil/src/operate/index.ts'
import { Problem, tell } from '../api/ask.ts'
import { Mark } from '../parts/mark.tsx'

const refusals: Readonly<Record<string, string>> = {
  not_authorised: 'You signed in, but are no operator here. Ask whoever keeps the configuration.',
  not_authenticated: 'The sign-in was not confirmed, or took too long. Try again.',
}

interface Props {
  readonly oidc: boolean
  readonly ended: boolean
  readonly onSignedIn: (operator: Operator) => void
}

export function SignIn({ oidc, ended, onSignedIn }: Props) {
  const [problem, setProblem] = useState(refusalOfAddress)
  const [waits, setWaits] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = 'Sign in · Counterfoil'
    field.current?.focus()
  }, [])
  const submit = async (event: Event) => {
    event.preventDefault()
    setWaits(true)
    try {
      const token = field.current!.value.trim()
      const { operator } = await tell<{ operator: Operator }>('/console/session', { token })
      onSignedIn(operator)
    } catch (error) {
      setProblem(wordsOf(error))
      field.current?.select()
    } finally {
      setWaits(false)
    }
  }
  return (
    <main class="sign-in">
      <form class="stub" onSubmit={submit}>
        <Mark />
        <h1>Sign in to the console</h1>
        {ended && problem === '' && <p class="notice">Your session has ended. Sign in to go on.</p>}
        {problem !== '' && (
          <p class="notice is-problem" role="alert">
            {problem}
          </p>
        )}
        <label for="token">Operator token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="current-password"
          required
          spellcheck={false}
        />
        <button type="submit" class="button is-main" disabled={waits}>
          Sign in
        </button>
        {oidc && (
          <a class="button" href="/console/session/oidc">
            Sign in with your organisation
          </a>
        )}
        <p class="faint">
          <code>counterfoil operators new NAME</code> makes a token.
        </p>
      </form>
    </main>
  )
}

/** What the way back from the identity provider says, if it led nowhere. */
function refusalOfAddress(): string {
  const code = new URLSearchParams(location.search).get('refused')
  if (code === null) return ''
  history.replaceState(null, '', '/console/')
  return refusals[code] ?? 'The identity provider could not be reached. Try again, or use a token.'
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Problem)) return 'The console failed; load it again.'
  if (error.status === 401) return 'No operator has this token.'
  return error.message
}
