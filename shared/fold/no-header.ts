import { PREAMBLE_BYTES } from '../codec/index.ts'
import { RunfoldError } from '../schema/index.ts'
import { type Folding, NO_HEADER } from './fold.ts'

/** At most one is named; the end where none is. */
interface Moment {
  readonly seq?: number
  readonly point?: number
  readonly at?: number
}

/**
 * Why these records fold to nothing: other records stand before the Header, or there is no readable record among them.
 */
export const noHeader = (folding: Exclude<Folding, object>, moment: Moment): RunfoldError => {
  const facts = { reason: 'no_header', offset: PREAMBLE_BYTES, frame: 0 }
  return new RunfoldError('bad_frames', reasonOf(folding, moment), facts)
}

const reasonOf = (folding: Exclude<Folding, object>, { seq, at }: Moment): string => {
  if (folding === NO_HEADER) return 'the first readable record is not a Header, so there is nothing to fold'
  if (at !== undefined) return `no record is as old as ${at}: there is nothing to fold`
  if (seq === 0) return 'after 0 frames there is nothing to fold: the first must be a Header'
  return 'there is no readable record, so there is nothing to fold'
}
