import { useEffect, useState } from 'preact/hooks'
import { LocationProvider } from 'preact-iso'
import type { Operator } from '../../packages/counterfoil/src/operate/index.ts'
import { ask, signedOutEvent, tell } from './api/ask.ts'
import { SignIn } from './pages/sign-in.tsx'
import { SessionContext } from './session.ts'
import { Shell } from './shell/shell.tsx'

interface Door {
  readonly operator: Operator | null
  readonly oidc: boolean
}

/** The sign-in page, or the console for whoever is signed in. */
export function App() {
  const [door, setDoor] = useState<Door>()
  const [ended, setEnded] = useState(false)
  useEffect(() => {
    const look = () =>
      ask<Door>('/console/session').then(setDoor, () =>
        setDoor((before) => before ?? { operator: null, oidc: false }),
      )
    const signedOut = () => {
      setEnded(true)
      void look()
    }
    void look()
    window.addEventListener(signedOutEvent, signedOut)
    return () => window.removeEventListener(signedOutEvent, signedOut)
  }, [])
  if (door === undefined) return null
  const { operator } = door
  if (operator === null) {
    const enter = (signedIn: Operator) => {
      setEnded(false)
      setDoor({ ...door, operator: signedIn })
    }
    return <SignIn oidc={door.oidc} ended={ended} onSignedIn={enter} />
  }
  const signOut = async () => {
    await tell('/console/session', {}, 'DELETE')
    setEnded(false)
    setDoor({ ...door, operator: null })
  }
  return (
    <SessionContext.Provider value={{ operator, signOut }}>
      <LocationProvider scope="/console">
        <Shell />
      </LocationProvider>
    </SessionContext.Provider>
  )
}
