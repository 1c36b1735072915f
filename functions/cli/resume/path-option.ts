import { type Command, InvalidArgumentError } from 'commander'
import type { PathRule } from '../../daemon/resume/path-map.ts'

export interface PathOptions {
  readonly workdir?: readonly PathRule[]
  readonly agentPath?: readonly PathRule[]
}

/** Adds the options that tell how paths of another machine are named here. */
export const withPathOptions = (command: Command): Command =>
  command
    .option('--workdir <old=new>', 'where the run’s working directory is here', rules('workdir'))
    .option('--agent-path <old=new>', 'where the run’s agent is here', rules('agent_path'))

/** What the help texts say of them. */
export const PATH_NOTE = `OLD is the path of the other machine or a folder it is in; NEW alone stands for
the whole path.`

/** The rules of both options. */
export const pathsIn = ({ workdir = [], agentPath = [] }: PathOptions): readonly PathRule[] => [
  ...workdir,
  ...agentPath,
]

/** Collects the values of an option: OLD=NEW, or NEW alone. */
const rules =
  (field: PathRule['field']) =>
  (text: string, before: readonly PathRule[] = []): readonly PathRule[] => {
    const cut = text.indexOf('=')
    const [from, to] = cut < 0 ? [undefined, text] : [text.slice(0, cut), text.slice(cut + 1)]
    if (to === '' || from === '') throw new InvalidArgumentError('It must be OLD=NEW, or NEW.')
    return [...before, { field, from, to }]
  }
