import { useLocation } from 'preact-iso'

/** The pages in the order of what an operator asks; `key` follows `g`. */
export const places = [
  { path: '/console/', name: 'Overview', key: 'o' },
  { path: '/console/unknown', name: 'Unknown', key: 'u' },
  { path: '/console/quarantine', name: 'Quarantine', key: 'q' },
  { path: '/console/effects', name: 'Effects', key: 'e' },
  { path: '/console/receipts', name: 'Receipts', key: 'r' },
  { path: '/console/backfills', name: 'Backfills', key: 'b' },
  { path: '/console/recipients', name: 'Recipients', key: 'p' },
  { path: '/console/retention', name: 'Retention', key: 't' },
  { path: '/console/audit', name: 'Audit', key: 'a' },
] as const

export function Navigation() {
  const { path } = useLocation()
  return (
    <nav class="places" aria-label="Pages">
      <ul>
        {places.map((place) => {
          const isHere = place.path === '/console/' ? path === place.path : path.startsWith(place.path)
          return (
            <li key={place.path}>
              <a href={place.path} aria-current={isHere ? 'page' : undefined}>
                {place.name}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
