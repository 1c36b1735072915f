import type { Gate, Move } from './faulty-ports.ts'

/** Actors that have been started and now stand at the gate, and what must hold once nothing moves any more. */
export interface Scenario {
  readonly gate: Gate
  check(): Promise<void>
}

interface Bounds {
  /** How many faults one history may have. */
  readonly faults: number
  /** Most histories to play; a larger space is an error, for it would not be exhausted. */
  readonly most: number
}

/**
 * Plays every history of a scenario, each from its beginning: all orders in which its actors' calls can reach the storage,
 * with faults anywhere. Resolves with their number; rejects with the story of the first that breaks the check.
 */
export async function explore(begin: () => Promise<Scenario>, { faults, most }: Bounds): Promise<number> {
  let choices: number[] = []
  for (let played = 1; ; played++) {
    if (played > most) throw new Error(`more than ${most} histories`)
    const widths: number[] = []
    await play(begin, faults, (moves) => {
      const choice = choices[widths.length] ?? 0
      choices[widths.length] = choice
      widths.push(moves.length)
      return choice
    })
    // The next history: the last choice that has an alternative takes it.
    choices = choices.slice(0, widths.length)
    while (choices.length > 0 && (choices.at(-1) as number) + 1 >= (widths[choices.length - 1] as number))
      choices.pop()
    if (choices.length === 0) return played
    choices.push((choices.pop() as number) + 1)
  }
}

/** Plays `count` histories chosen by a seed, where all of them would be too many. */
export async function sample(
  begin: () => Promise<Scenario>,
  { faults, count, seed }: { faults: number; count: number; seed: number },
): Promise<void> {
  const random = randomBelow(seed)
  for (let i = 0; i < count; i++) {
    // Faults are rare moves of many, so that most histories get far before one comes.
    await play(begin, faults, (moves) => {
      const sound = moves.flatMap((move, at) => (move.isFault ? [] : [at]))
      const isFault = sound.length < moves.length && random(8) === 0
      return isFault ? random(moves.length) : (sound[random(sound.length)] as number)
    })
  }
}

async function play(
  begin: () => Promise<Scenario>,
  faults: number,
  choose: (moves: Move[]) => number,
): Promise<void> {
  const { gate, check } = await begin()
  const story: string[] = []
  let left = faults
  try {
    for (;;) {
      await settled()
      const moves = gate.moves(left > 0)
      if (moves.length === 0) break
      const move = moves[choose(moves)] as Move
      story.push(move.label)
      if (move.isFault) left--
      await move.make()
    }
    await check()
  } catch (error) {
    throw new Error(`${(error as Error).message}\nafter\n  ${story.join('\n  ')}`, { cause: error })
  }
}

/** Until every actor has come to its next call: none of them waits for anything but the ports. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** mulberry32 */
function randomBelow(seed: number): (n: number) => number {
  let a = seed
  return (n) => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % n
  }
}
