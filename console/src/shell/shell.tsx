import { useEffect, useState } from 'preact/hooks'
import { lazy, Route, Router, useLocation } from 'preact-iso'
import { Mark } from '../parts/mark.tsx'
import { useSession } from '../session.ts'
import { Navigation } from './navigation.tsx'
import { SearchField } from './search-field.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { useKeys } from './use-keys.ts'

const Quarantine = lazy(() => import('../pages/quarantine.tsx').then((page) => page.Quarantine))
const QuarantineEntry = lazy(() =>
  import('../pages/quarantine-entry.tsx').then((page) => page.QuarantineEntry),
)
const Audit = lazy(() => import('../pages/audit.tsx').then((page) => page.Audit))

/** What stands around every page: search, the way to the other pages, who is signed in. */
export function Shell() {
  const { operator, signOut } = useSession()
  const [help, setHelp] = useState(false)
  const { route } = useLocation()
  useKeys({ route, onHelp: () => setHelp(true) })
  return (
    <div class="shell">
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <header class="bar">
        <a class="bar-mark" href="/console/" aria-label="Counterfoil, overview">
          <Mark />
        </a>
        <SearchField />
        <div class="bar-who">
          <button type="button" class="quiet" onClick={() => setHelp(true)} aria-label="Keyboard shortcuts">
            <kbd>?</kbd>
          </button>
          <span class="who">
            {operator.name} <span class="faint">{operator.role}</span>
          </span>
          <button type="button" class="quiet" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <Navigation />
      <main id="page" tabIndex={-1}>
        <Pages />
      </main>
      <Shortcuts open={help} onClose={() => setHelp(false)} />
    </div>
  )
}

function Pages() {
  const { path } = useLocation()
  useEffect(() => scrollTo(0, 0), [path])
  return (
    <Router>
      <Route path="/console/quarantine" component={Quarantine} />
      <Route path="/console/quarantine/:id" component={QuarantineEntry} />
      <Route path="/console/audit" component={Audit} />
      <Route default component={Nowhere} />
    </Router>
  )
}

function Nowhere() {
  return (
    <article class="page">
      <h1>Nothing is here</h1>
      <p>
        The console has no such page. <a href="/console/">Back to the overview</a>
      </p>
    </article>
  )
}
