import { type Client, createClient, type Redacted } from '#client'

/** A reader waits; who wants more tries presses a button. Times in ms. */
const RETRY = { retries: 2, firstPauseMs: 300, longestPauseMs: 2000 }

/** Where this page came from, with whatever path stands before it. */
const BASE = new URL('.', location.href).href

/** A client whose requests end with the signal, so that what nobody looks at any more is not waited for. */
export const clientOf = (token: Redacted | undefined, signal?: AbortSignal): Client =>
  createClient({
    url: BASE,
    retry: RETRY,
    fetch: (input, init) => fetch(input, init),
    ...(token && { token }),
    ...(signal && { signal }),
  })
