import { useEffect, useRef, useState } from 'preact/hooks'

/** The time in ms, new every `everyMs`, so that ages stay true. */
export function useNow(everyMs = 30_000): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Calls the newest `work` again and again while the page is in sight. */
export function useEvery(everyMs: number, work: () => void): void {
  const newest = useRef(work)
  newest.current = work
  useEffect(() => {
    const timer = setInterval(() => document.hidden || newest.current(), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
