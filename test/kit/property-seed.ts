import * as fc from 'fast-check'

// Properties play the same cases every time, so that a red run means a changed program and not an unlucky day.
// `FC_SEED=random npm test` looks for new ones; a number plays those of that seed again.

const { FC_SEED = '20261130' } = process.env
if (FC_SEED !== 'random') fc.configureGlobal({ seed: Number(FC_SEED) })
