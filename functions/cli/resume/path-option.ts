import { InvalidArgumentError } from 'commander'
import type { PathRule } from '../../daemon/resume/path-map.ts'

/** Collects the values of an option that tells how a path of another machine is named here: OLD=NEW, or NEW alone. */
export const pathRules =
  (field: PathRule['field']) =>
  (text: string, before: readonly PathRule[] = []): readonly PathRule[] => {
    const cut = text.indexOf('=')
    const [from, to] = cut < 0 ? [undefined, text] : [text.slice(0, cut), text.slice(cut + 1)]
    if (to === '' || from === '') throw new InvalidArgumentError('It must be OLD=NEW, or NEW.')
    return [...before, { field, from, to }]
  }

/** What the help texts say of it. */
export const PATH_NOTE = `OLD is the path of the other machine or a folder it is in; NEW alone stands for
the whole path.`
