import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import prettyBytes from 'pretty-bytes'
import { counted } from '../../counted.ts'
import { countingNumber, examples, type Verb, wholeNumber } from '../command.ts'
import { demoArchive } from '../demo-run.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

interface DemoOptions {
  readonly records: number
  readonly seed: number
  readonly force?: boolean
}

const DEFAULT_FILE = 'run.lvr'

export const demo: Verb = (program, act) =>
  program
    .command('demo')
    .summary('write the archive of a made-up run, to try things on')
    .description('Writes the archive of a made-up run. The same seed and length give the same bytes.')
    .argument('[file]', 'where to put it', DEFAULT_FILE)
    .option('--records <n>', 'how many records', countingNumber, 200)
    .option('--seed <n>', 'another run', wholeNumber, 1)
    .option('--force', 'replace the file if it is there')
    .addHelpText('after', examples('demo', 'demo large.lvr --records 50000'))
    .action(
      act(async ({ io, json, out, signal }, file: string, { records, seed, force }: DemoOptions) => {
        const path = resolve(io.cwd, file)
        const handle = await open(path, force ? 'w' : 'wx').catch((cause) => {
          const there =
            cause.code === 'EEXIST' ? 'it is there already; replace it with --force' : cause.message
          throw new UsageError(`cannot write ${path}: ${there}`, { cause })
        })
        try {
          for (const chunk of demoArchive({ records, seed })) {
            signal.throwIfAborted()
            await handle.writeFile(chunk)
          }
        } finally {
          await handle.close()
        }
        const { size } = await stat(path)
        if (json) await out.json({ file: path, bytes: size, records })
        else await out.line(`${oneLine(file)}: ${counted(records, 'record')}, ${prettyBytes(size)}`)
        return undefined
      }),
    )
