import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'

/** The read-only inputs (design, golden data, acceptance) beside the checkout. */
const SHARED = new URL('../../../shared/', import.meta.url)

export const hasShared = existsSync(SHARED)

export function sharedPath(path: string): string {
  return fileURLToPath(new URL(path, SHARED))
}

/** The file's bytes, in memory of their own. */
export function sharedBytes(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(sharedPath(path)))
}

export function sharedText(path: string): string {
  return readFileSync(sharedPath(path), 'utf8')
}

/** Tests that need the shared folder; skipped, and saying so, where it is not there. */
export function describeShared(title: string, tests: () => void): void {
  if (hasShared) describe(title, tests)
  else it.skip(`${title} (skipped: ../shared is not beside the checkout)`, () => {})
}
