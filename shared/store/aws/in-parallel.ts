/**
 * Maps with at most `width` calls running. Rejects with the first error, but only when every started call has ended, so
 * that cleaning up afterwards races with nothing.
 */
export async function inParallel<T, R>(
  width: number,
  items: readonly T[],
  call: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const errors: unknown[] = []
  let next = 0
  const lane = async () => {
    while (next < items.length && errors.length === 0) {
      const index = next++
      try {
        results[index] = await call(items[index] as T, index)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
  if (errors.length > 0) throw errors[0]
  return results
}
