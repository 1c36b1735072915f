import type { Card } from '#schema'

/**
 * Rows that a reader is looking at, brought up to date: each keeps its place, and what a newer answer does not name any more
 * stays as it was, so that nothing moves under a finger.
 */
export function merged(
  shown: readonly Card[],
  now: readonly Card[],
): { readonly items: readonly Card[]; readonly newer: number } {
  const fresh = new Map(now.map((card) => [card.run_id, card]))
  const items = shown.map((card) => fresh.get(card.run_id) ?? card)
  const known = new Set(shown.map(({ run_id }) => run_id))
  const first = now.findIndex(({ run_id }) => known.has(run_id))
  const newer = first < 0 ? now.length : first
  return { items, newer }
}
