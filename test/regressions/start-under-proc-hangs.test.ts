import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openLocalStore } from '#store/local'

// `RUNFOLD_DATA=/proc/nope/data npm start` printed nothing and never ended: Node's recursive mkdir asks for the parent again
// and again where the system answers that it is not there.

it.skipIf(!existsSync('/proc/self'))('a data folder that cannot be made is refused in words', async () => {
  await expect(openLocalStore('/proc/nope/data')).rejects.toThrow('/proc/nope/data cannot be written')
})
