import { type BeginWith, scenario } from './scenario.ts'

/** All at once: too many orders for all of them. */
export const LARGE = {
  'everybody at once': scenario({
    batches: 4,
    act: async (run) => {
      run.expected.add('not_found') // an upload whose object the sweep has found
      run.clock.advance(61_000) // nobody renews, so the run is idle and due
      run.write('writer', 'a', 'b')
      run.complete('uploader', await run.opened('u'))
      run.takeOver('heir', 'c')
      run.merge('merger', 0, 2)
      run.merge('other merger', 1, 3)
      run.maintain('maintainer')
      run.sweep('sweeper')
      run.read('reader')
    },
  }),
  'everybody, and the run made anew': scenario({
    batches: 3,
    act: async (run) => {
      run.clock.advance(61_000)
      run.write('writer', 'a')
      run.complete('uploader', await run.opened('u'))
      run.takeOver('heir', 'c')
      run.startAnew('other heir', 'd', 'e')
      run.merge('merger', 0, 2)
      run.maintain('maintainer')
      run.maintain('other maintainer')
      run.read('reader')
    },
  }),
  'everybody while time passes': scenario({
    batches: 3,
    graceMs: 1000,
    act: async (run) => {
      run.clock.advance(61_000)
      run.write('writer', 'a', 'b')
      run.takeOver('heir', 'c')
      run.merge('merger', 0, 1)
      run.mergeAndSweepTwice('keeper')
      run.maintain('maintainer')
      run.read('reader')
      run.read('other reader')
      run.passTime(3)
    },
  }),
} satisfies Record<string, BeginWith>
