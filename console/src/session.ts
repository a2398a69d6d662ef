import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Operator } from '../../packages/counterfoil/src/operate/index.ts'

export interface Session {
  readonly operator: Operator
  readonly signOut: () => Promise<void>
}

export const SessionContext = createContext<Session | null>(null)

/** Who is signed in. Pages are shown to nobody else. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('no page is shown without a session')
  return session
}

const roles = ['viewer', 'operator', 'approver'] as const

/** Whether a role covers another. The server decides; this only spares a press of a button. */
export function covers(operator: Operator, role: (typeof roles)[number]): boolean {
  return roles.indexOf(operator.role) >= roles.indexOf(role)
}
