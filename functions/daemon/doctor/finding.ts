/** What one check found, in words for the person who asked. */
export interface Finding {
  /** What was looked at: `server`, `clock`, `token` … */
  readonly check: string
  readonly state: 'ok' | 'warning' | 'bad'
  readonly found: string
  /** What to do about it; null where nothing need be done. */
  readonly mend: string | null
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found, mend: null })

export const warning = (check: string, found: string, mend: string): Finding => ({
  check,
  state: 'warning',
  found,
  mend,
})

export const bad = (check: string, found: string, mend: string): Finding => ({
  check,
  state: 'bad',
  found,
  mend,
})
