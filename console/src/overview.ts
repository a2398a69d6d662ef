import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Overview } from '../../packages/counterfoil/src/operate/index.ts'
import type { Asked } from './api/use-asked.ts'

/** How things are now: asked once for the whole console, as the navigation shows what waits too. */
export const OverviewContext = createContext<Asked<Overview> | null>(null)

export function useOverview(): Asked<Overview> {
  const asked = useContext(OverviewContext)
  if (asked === null) throw new Error('the shell asks for the overview')
  return asked
}
