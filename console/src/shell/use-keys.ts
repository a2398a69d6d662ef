import { useEffect, useRef } from 'preact/hooks'
import { places } from './navigation.tsx'

interface Keys {
  readonly route: (path: string) => void
  readonly onHelp: () => void
}

/** How long a second key may take after `g`. */
const chordMs = 1_500

/** The keyboard: `/` searches, `j` and `k` go through rows, `g` and a letter go to a page, `?` tells all of it. */
export function useKeys({ route, onHelp }: Keys): void {
  // Kept from one drawing of the shell to the next, which may come between the two keys.
  const goUntil = useRef(0)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector('dialog[open]') !== null) return
      const place =
        goUntil.current > event.timeStamp ? places.find(({ key }) => key === event.key) : undefined
      goUntil.current = event.key === 'g' ? event.timeStamp + chordMs : 0
      if (place !== undefined) route(place.path)
      else if (event.key === '/') document.getElementById('search')?.focus()
      else if (event.key === 'j') focusRow(1)
      else if (event.key === 'k') focusRow(-1)
      else if (event.key === '?') onHelp()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [route, onHelp])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select')
}

function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at < 0 ? rows.at(step === 1 ? 0 : -1) : rows[Math.min(rows.length - 1, Math.max(0, at + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
