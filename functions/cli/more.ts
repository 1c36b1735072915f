import type { Session } from './session.ts'

/** Says that a list was cut; on standard error, so that nobody takes a part of it for all of it and no program for a row. */
export const tellMore = async ({ json, err }: Session, limit: number): Promise<void> => {
  const detail = `there may be more than these ${limit}; --all shows them`
  await (json ? err.json({ note: 'more', detail }) : err.line(detail))
}
