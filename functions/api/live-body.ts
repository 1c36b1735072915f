import type { Clock } from '#store'

/** A reader that takes nothing for so long is gone, or might as well be. */
const STALL_MS = 60_000

/**
 * A body whose pieces are sent as they come, each only when the reader has taken the one before. A reader that stops
 * taking them is cut off: what it holds of this process would otherwise be held for ever, and its token unchecked.
 *
 * @param ended called once, however it ends
 */
export function liveBody(
  source: AsyncGenerator<Uint8Array>,
  clock: Clock,
  ended: () => void,
): ReadableStream<Uint8Array> {
  let taken = new AbortController()
  let isOver = false

  const end = () => {
    if (!isOver) ended()
    isOver = true
    taken.abort()
  }
  const leave = async () => {
    end()
    await source.return(undefined)
  }
  const offer = (controller: ReadableStreamDefaultController) => {
    taken = new AbortController()
    void cutOff(controller, taken.signal)
  }
  const cutOff = async (controller: ReadableStreamDefaultController, signal: AbortSignal) => {
    await clock.sleep(STALL_MS, signal)
    if (signal.aborted) return
    controller.error(new Error(`nothing was taken for ${STALL_MS / 1000} s`))
    await leave().catch(() => {}) // nobody is left to hear of it
  }
  const pull = async (controller: ReadableStreamDefaultController) => {
    taken.abort()
    for (;;) {
      const { done, value } = await source.next()
      if (isOver) return
      if (done) {
        end()
        return controller.close()
      }
      if (value.length === 0) continue
      controller.enqueue(value)
      return offer(controller)
    }
  }
  const pullOrEnd = (controller: ReadableStreamDefaultController) =>
    pull(controller).catch((error) => {
      end()
      throw error
    })

  return new ReadableStream({ start: offer, pull: pullOrEnd, cancel: leave }, { highWaterMark: 0 })
}
