import { openSpool } from '../../../../functions/daemon/spool/index.ts'
import { archiveOf, frameOf, RUN } from '../kit.ts'

/** Appends without end and says of each append where it ended, until it is killed. */
const spool = await openSpool({ folder: process.argv[2] as string })
for (let i = 0; ; i++) {
  const offset = spool.end(RUN) ?? 0
  const text = 'x'.repeat(i % 50)
  process.send?.(
    await spool.append({ run_id: RUN, offset, bytes: offset === 0 ? archiveOf(text) : frameOf(text) }),
  )
}
