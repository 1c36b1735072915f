import type { Metered } from '#store'

// What Amazon charges in us-east-1, in dollars, as listed in November 2026: S3 Standard, DynamoDB on demand.

export const PRICES_OF = '2026-11'

/** A request. COPY, POST and LIST are charged as PUT; DELETE is free. DynamoDB charges by unit instead. */
export const PER_REQUEST: Readonly<Partial<Record<Metered, number>>> = {
  put: 5e-6,
  copy: 5e-6,
  post: 5e-6,
  list: 5e-6,
  get: 0.4e-6,
}

/** A read unit of 4 KB, strongly consistent, or a write unit of 1 KB. */
export const PER_UNIT: Readonly<Partial<Record<Metered, number>>> = {
  item_read: 0.125e-6,
  item_write: 0.625e-6,
  query: 0.125e-6,
  look: 0.125e-6,
}

export const PER_GB_MONTH = { objects: 0.023, items: 0.25 }
