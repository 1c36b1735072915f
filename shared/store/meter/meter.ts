import type { StorePorts } from '../ports.ts'
import { Counter, type Readings } from './counter.ts'
import { meteredIndex, meteredUploadIndex } from './index-meter.ts'
import { meteredObjects, meteredUploads } from './objects-meter.ts'
import type { Tariff } from './tariff.ts'

/** Ports that count, and what they have counted. */
export interface Meter {
  readonly ports: StorePorts
  /** Since the last reset. */
  readings(): Readings
  reset(): void
}

/**
 * Ports that count what a service would be asked, whatever they stand on; so promises about cost (P8, P9) are tested in
 * memory. Tokens are not counted, since servers remember them; nor are the items of sessions.
 */
export function meter(ports: StorePorts, tariff: Tariff): Meter {
  const count = new Counter()
  return {
    ports: {
      objects: meteredObjects(ports.objects, tariff, count),
      index: meteredIndex(ports.index, tariff, count),
      tokens: ports.tokens,
      uploads: meteredUploads(ports.uploads, count),
      uploadIndex: meteredUploadIndex(ports.uploadIndex, tariff, count),
      sessions: ports.sessions,
    },
    readings: () => count.readings(),
    reset: () => count.reset(),
  }
}
