import { explore, type Played, sample } from '../kit/model-explore.ts'
import { LARGE } from './large.ts'
import { PLANTS } from './plants.ts'
import { SMALL, type Small } from './small.ts'

/** More than any scenario has within its bounds; a scenario that grows past it must be bounded anew. */
const MOST = 1_000_000
const FAULTS = 2
const SAMPLES = { usual: 9000, long: 250_000 }

export interface Effort {
  readonly isLong: boolean
  readonly seed: number
}

/** Plays one scenario by name; rejects with the story of the first history that breaks a promise. */
export async function playScenario(name: string, { isLong, seed }: Effort): Promise<Played> {
  const played: Played = new Set()
  const small: Small | undefined = SMALL[name as keyof typeof SMALL]
  if (small) {
    const { begin, faults, delays } = small
    await explore(() => begin(), { faults, most: MOST, ...(delays && { delays }) }, played)
    if (isLong) await explore(() => begin(), { faults: faults + 1, delays: 3, most: MOST }, played)
    return played
  }
  const begin = LARGE[name as keyof typeof LARGE]
  for (const bounds of isLong
    ? [
        { faults: 0, delays: 3 },
        { faults: 1, delays: 2 },
      ]
    : SHORT_BOUNDS)
    await explore(() => begin(), { ...bounds, most: MOST }, played)
  const count = isLong ? SAMPLES.long : SAMPLES.usual
  return sample(() => begin(), { faults: FAULTS, count, seed }, played)
}

const SHORT_BOUNDS = [
  { faults: 0, delays: 2 },
  { faults: 1, delays: 1 },
]

/** The story by which a planted bug is found; undefined when no history shows it. */
export async function findPlanted(name: string): Promise<string | undefined> {
  const { plant, scenario } = PLANTS[name] as (typeof PLANTS)[string]
  const { begin, delays }: Small = SMALL[scenario]
  for (const faults of [0, 1]) {
    try {
      await explore(() => begin(plant), { faults, delays: delays ?? 3, most: MOST })
    } catch (error) {
      return (error as Error).message
    }
  }
  return undefined
}
