import { checkExtents, checkPromises } from '../kit/model-check.ts'
import type { Scenario } from '../kit/model-explore.ts'
import { type ModelOptions, ModelRun, type Plant } from '../kit/model-run.ts'

/** Begins one history; with a plant the actors have a known bug. */
export type BeginWith = (plant?: Plant) => Promise<Scenario>

interface Setting extends Omit<ModelOptions, 'plant'> {
  act(run: ModelRun): void | Promise<void>
  /** Beside the promises. */
  check?(run: ModelRun): Promise<void>
}

export const scenario =
  ({ act, check, ...options }: Setting): BeginWith =>
  async (plant) => {
    const run = await ModelRun.begin({ ...options, plant })
    await act(run)
    return {
      gate: run.gate,
      invariant: () => checkExtents(run),
      check: async () => {
        await check?.(run)
        await checkPromises(run)
      },
    }
  }
