import { useEffect, useState } from 'preact/hooks'
import { lazy, Route, Router, useLocation } from 'preact-iso'
import type { Overview as Seen } from '../../../packages/counterfoil/src/operate/index.ts'
import { useAsked } from '../api/use-asked.ts'
import { OverviewContext } from '../overview.ts'
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
const Overview = lazy(() => import('../pages/overview.tsx').then((page) => page.Overview))
const Unknown = lazy(() => import('../pages/unknown.tsx').then((page) => page.Unknown))
const Effects = lazy(() => import('../pages/effects.tsx').then((page) => page.Effects))
const Effect = lazy(() => import('../pages/effect.tsx').then((page) => page.Effect))
const Receipts = lazy(() => import('../pages/receipts.tsx').then((page) => page.Receipts))
const Receipt = lazy(() => import('../pages/receipt.tsx').then((page) => page.Receipt))
const Recipients = lazy(() => import('../pages/recipients.tsx').then((page) => page.Recipients))
const Search = lazy(() => import('../pages/search.tsx').then((page) => page.Search))
const Backfills = lazy(() => import('../pages/backfills.tsx').then((page) => page.Backfills))
const Backfill = lazy(() => import('../pages/backfill.tsx').then((page) => page.Backfill))
const Retention = lazy(() => import('../pages/retention.tsx').then((page) => page.Retention))
const Audit = lazy(() => import('../pages/audit.tsx').then((page) => page.Audit))

/** What stands around every page: search, the way to the other pages, who is signed in. */
export function Shell() {
  const { operator, signOut } = useSession()
  const [help, setHelp] = useState(false)
  const { route } = useLocation()
  useKeys({ route, onHelp: () => setHelp(true) })
  const overview = useAsked<Seen>('/api/v1/overview', { everyMs: 5_000 })
  return (
    <OverviewContext.Provider value={overview}>
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
    </OverviewContext.Provider>
  )
}

function Pages() {
  const { path } = useLocation()
  useEffect(() => scrollTo(0, 0), [path])
  return (
    <Router>
      <Route path="/console/" component={Overview} />
      <Route path="/console/search" component={Search} />
      <Route path="/console/unknown" component={Unknown} />
      <Route path="/console/effects" component={Effects} />
      <Route path="/console/effects/:id" component={Effect} />
      <Route path="/console/receipts" component={Receipts} />
      <Route path="/console/receipts/:id" component={Receipt} />
      <Route path="/console/recipients" component={Recipients} />
      <Route path="/console/quarantine" component={Quarantine} />
      <Route path="/console/quarantine/:id" component={QuarantineEntry} />
      <Route path="/console/backfills" component={Backfills} />
      <Route path="/console/backfills/:name" component={Backfill} />
      <Route path="/console/retention" component={Retention} />
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
