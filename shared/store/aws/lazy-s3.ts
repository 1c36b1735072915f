import { COPY_PART } from './part-plan.ts'
import type { S3Options, S3Ports } from './s3.ts'
import type { PartsLog } from './while-open.ts'

/**
 * The ports that stand on S3, whose SDK is loaded by the first call: a process that only lists runs or asks for a lease
 * never pays for it (a function that has just been started waits for every byte of code).
 */
export function lazyS3(options: S3Options, open: PartsLog): S3Ports {
  let loading: Promise<S3Ports> | undefined
  const s3 = () => {
    loading ??= import('./s3.ts').then(({ s3Ports }) => s3Ports(options, open))
    return loading
  }
  const objects = async () => (await s3()).objects
  const uploads = async () => (await s3()).uploads
  return {
    objects: {
      put: async (...asked) => (await objects()).put(...asked),
      get: async (...asked) => (await objects()).get(...asked),
      tagged: async (...asked) => (await objects()).tagged(...asked),
      compose: async (...asked) => (await objects()).compose(...asked),
      remove: async (...asked) => (await objects()).remove(...asked),
      list: async function* (prefix) {
        yield* (await objects()).list(prefix)
      },
      facts: async (...asked) => (await objects()).facts(...asked),
      url: async (...asked) => (await objects()).url(...asked),
    },
    uploads: {
      maxPartBytes: COPY_PART,
      open: async (...asked) => (await uploads()).open(...asked),
      partUrl: async (...asked) => (await uploads()).partUrl(...asked),
      complete: async (...asked) => (await uploads()).complete(...asked),
      abort: async (...asked) => (await uploads()).abort(...asked),
    },
    close: () => void loading?.then(({ close }) => close()),
  }
}
