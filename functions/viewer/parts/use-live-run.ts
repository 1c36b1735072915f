import { useEffect, useRef } from 'preact/hooks'
import type { RunAnswer } from '#schema'
import { useSigned } from './context.ts'
import { type Loaded, useLoad } from './use-load.ts'
import { useEvery } from './use-now.ts'

const POLL_MS = 5000
/** News of a busy run are looked at together. */
const GATHER_MS = 700

/** A run as it is now: kept up by its events where the server has them, by asking again where it has not. */
export function useLiveRun(run: string): Loaded<RunAnswer> {
  const { client, capabilities } = useSigned()
  const hasEvents = capabilities.features.includes('events')
  const loaded = useLoad(run, (ask) => ask.run(run))
  const again = useRef(loaded.again)
  again.current = loaded.again
  const tail = useRef<number | undefined>(undefined)
  tail.current ??= loaded.value?.tail

  const isKnown = loaded.value !== undefined
  useEffect(() => {
    if (!isKnown || !hasEvents) return
    const leaving = new AbortController()
    let gathering: ReturnType<typeof setTimeout> | undefined
    const follow = async () => {
      for await (const { offset, length } of client(leaving.signal).follow(run, tail.current ?? 0)) {
        tail.current = offset + length
        gathering ??= setTimeout(() => {
          gathering = undefined
          again.current()
        }, GATHER_MS)
      }
    }
    const keepFollowing = () => {
      follow().catch(() => {
        if (leaving.signal.aborted) return
        again.current() // tells why, where the run or the token is gone
        gathering = setTimeout(() => {
          gathering = undefined
          keepFollowing()
        }, POLL_MS)
      })
    }
    keepFollowing()
    return () => {
      leaving.abort()
      clearTimeout(gathering)
    }
  }, [run, isKnown, hasEvents])
  useEvery(POLL_MS, () => hasEvents || again.current())
  return loaded
}
