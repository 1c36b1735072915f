/** How many secrets of each family stand in these bytes; not counted are those that end in the first `seen`. */
export type SecretScan = (
  chunks: AsyncIterable<Uint8Array>,
  seen?: number,
) => Promise<ReadonlyMap<string, number>>

/** No token of the rules is as long: with so much of what stands before, one across two pieces is found in the second. */
export const SECRET_BYTES = 4096
