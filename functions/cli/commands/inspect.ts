import { type Finding, inspect as inspectBytes, inspectTorn } from '#codec'
import { examples, type Verb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { namedAfter } from '../reading/of-file.ts'
import { openReading, type Reading } from '../reading/reading.ts'
import { printTable } from '../table.ts'
import { unixTime } from '../time.ts'
import { UsageError } from '../usage-error.ts'

/** A torn tail of up to this many bytes is searched in memory. */
const SALVAGE_BYTES = 1024 * 1024 * 1024

export const inspect: Verb = (program, act) =>
  program
    .command('inspect <run|file>')
    .summary('explain the bytes of an archive, frame by frame')
    .description(
      'Explains the bytes of an archive, also of a damaged one: where each frame stands, what it is and what is wrong. ' +
        'No text of the records is shown, so the output may be passed on. With --json a frame a line.',
    )
    .option('--salvage', 'search behind a torn tail for records that were written after the tear')
    .addHelpText('after', examples('inspect run.lvr', 'inspect broken.lvr --salvage'))
    .action(
      act(async (session, target: string, options: { salvage?: boolean }) => {
        const { out, json } = session
        const seen = { isDamaged: false }
        const reading = await openReading(session, target)
        const lines = explained(reading, options.salvage === true, seen)
        if (json) for await (const line of lines) await out.json(line)
        else
          await printTable(
            out,
            [
              { title: 'SEQ', value: (line) => (line.salvaged ? 'salvaged' : line.seq), align: 'right' },
              { title: 'OFFSET', value: (line) => line.offset, align: 'right' },
              { title: 'LENGTH', value: (line) => line.length, align: 'right' },
              { title: 'AT', value: (line) => unixTime(line.at) },
              { title: 'KIND', value: (line) => line.kind, width: 20 },
              { title: 'PROBLEM', value: (line) => line.problem, width: 80 },
            ],
            lines,
            'no frames',
          )
        return seen.isDamaged ? EXIT.damaged : undefined
      }),
    )

async function* explained(
  reading: Reading,
  salvaging: boolean,
  seen: { isDamaged: boolean },
): AsyncGenerator<Omit<Finding, 'torn'>> {
  for await (const { torn, ...finding } of findings(reading)) {
    yield finding
    if (!torn) continue
    seen.isDamaged = true
    if (!salvaging) continue
    const { offset, length } = torn
    if (length > SALVAGE_BYTES)
      throw new UsageError(`the torn tail is over ${SALVAGE_BYTES} bytes, too large to search`)
    yield* inspectTorn(await bytesFrom(reading, offset, length), offset)
  }
}

async function* findings(reading: Reading): AsyncGenerator<Finding> {
  try {
    yield* inspectBytes(reading.bytes())
  } catch (error) {
    throw reading.file === undefined ? error : namedAfter(reading.file, error)
  }
}

const bytesFrom = async (reading: Reading, offset: number, length: number): Promise<Uint8Array> => {
  const tail = new Uint8Array(length)
  let at = -offset
  for await (const chunk of reading.bytes()) {
    const part = chunk.subarray(Math.max(0, -at), Math.max(0, length - at))
    if (part.length > 0) tail.set(part, Math.max(0, at))
    at += chunk.length
  }
  return tail
}
