import type { Feature } from '#schema'

/** What this server offers on every store (API.md, routes marked with a feature). */
export const FEATURES_OFFERED: readonly Feature[] = [
  'uploads',
  'events',
  'fork',
  'claims',
  'usage',
  'sessions',
]
