import { useEffect } from 'preact/hooks'

/** How far down each address was left. */
const left = new Map<string, number>()
/** Frames to wait for what is loaded anew to be as tall as it was. */
const PATIENCE = 600

/** A new place begins at its top; one that is gone back to stands where it was left, once it is tall enough again. */
export function useScroll(place: string): void {
  useEffect(() => {
    history.scrollRestoration = 'manual'
    let wanted: number | undefined
    const remember = () => wanted ?? left.set(location.hash, window.scrollY)
    const goBack = (event: PopStateEvent) => {
      if (event.state === null) return // a link was followed; the entry is new
      wanted = left.get(location.hash) ?? 0
      let patience = PATIENCE
      const tryIt = () => {
        if (wanted === undefined) return
        const reach = document.documentElement.scrollHeight - window.innerHeight
        if (reach < wanted && patience-- > 0) return void requestAnimationFrame(tryIt)
        window.scrollTo(0, wanted)
        wanted = undefined
      }
      requestAnimationFrame(tryIt)
    }
    window.addEventListener('scroll', remember, { passive: true })
    // A scroll is told of a frame later, when a link may have been followed already.
    window.addEventListener('click', remember, { capture: true })
    window.addEventListener('popstate', goBack)
    return () => {
      window.removeEventListener('scroll', remember)
      window.removeEventListener('click', remember, { capture: true })
      window.removeEventListener('popstate', goBack)
    }
  }, [])

  useEffect(() => {
    if (history.state !== null) return
    history.replaceState(SEEN, '')
    window.scrollTo(0, 0)
  }, [place])
}

/** The state of an entry that has been looked at; a link makes entries without one. */
export const SEEN = { seen: true }
