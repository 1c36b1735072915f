import { useEffect, useState } from 'preact/hooks'
import { hashOf, parseRoute, type Route } from '../data/route.ts'
import { SEEN } from './use-scroll.ts'

const listeners = new Set<() => void>()

/** Goes to a place; `replace` leaves no entry for the back button. */
export function navigate(route: Route, how: 'push' | 'replace' = 'push'): void {
  const hash = hashOf(route)
  if (hash === location.hash) return
  history[how === 'push' ? 'pushState' : 'replaceState'](SEEN, '', hash)
  for (const listener of listeners) listener()
}

/** The place the address names, kept up with links, the back button and `navigate`. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const look = () => setHash(location.hash)
    listeners.add(look)
    window.addEventListener('hashchange', look)
    window.addEventListener('popstate', look)
    return () => {
      listeners.delete(look)
      window.removeEventListener('hashchange', look)
      window.removeEventListener('popstate', look)
    }
  }, [])
  return parseRoute(hash)
}
