import { createHash } from 'node:crypto'
import type { Gate, Move } from './faulty-ports.ts'
import { type Turns, turns } from './model-turns.ts'

/** Actors that have been started and now stand at the gate. */
export interface Scenario {
  readonly gate: Gate
  /** What must hold after every step. */
  invariant(): Promise<void>
  /** What must hold once nothing moves any more. */
  check(): Promise<void>
}

export type Begin = () => Promise<Scenario>

/** The histories played so far, each known by a hash of its steps. */
export type Played = Set<string>

interface Bounds {
  /** How many faults one history may have. */
  readonly faults: number
  /** How often in one history an actor may have to let another go before it; any number when absent (model-turns.ts). */
  readonly delays?: number
  /** Most histories to play; a larger space is an error, for it would not be exhausted. */
  readonly most: number
}

/**
 * Plays every history of a scenario within the bounds, each from its beginning: all orders in which its actors' steps can
 * reach the storage, with faults anywhere. Rejects with the story of the first that breaks a promise.
 */
export async function explore(
  begin: Begin,
  { faults, delays = Number.POSITIVE_INFINITY, most }: Bounds,
  played: Played = new Set(),
): Promise<Played> {
  let choices: number[] = []
  for (let count = 1; ; count++) {
    if (count > most) throw new Error(`more than ${most} histories`)
    const widths: number[] = []
    await play(begin, { faults, turns: turns(delays), played }, (moves) => {
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
  begin: Begin,
  { faults, count, seed }: { faults: number; count: number; seed: number },
  played: Played = new Set(),
): Promise<Played> {
  const random = randomBelow(seed)
  for (let i = 0; i < count; i++) {
    // Faults are rare moves of many, so that most histories get far before one comes.
    await play(begin, { faults, turns: turns(Number.POSITIVE_INFINITY), played }, (moves) => {
      const sound = moves.flatMap((move, at) => (move.isFault ? [] : [at]))
      const isFault = sound.length < moves.length && random(FAULT_ONE_IN) === 0
      return isFault ? random(moves.length) : (sound[random(sound.length)] as number)
    })
  }
  return played
}

const FAULT_ONE_IN = 16

interface Rules {
  readonly faults: number
  readonly turns: Turns
  readonly played: Played
}

async function play(begin: Begin, rules: Rules, choose: (moves: Move[]) => number): Promise<void> {
  const { gate, invariant, check } = await begin()
  const story: string[] = []
  let left = rules.faults
  try {
    for (;;) {
      await gate.settled()
      const moves = rules.turns.among(gate.moves(left > 0))
      if (moves.length === 0) break
      const move = moves[choose(moves)] as Move
      rules.turns.take(move)
      story.push(move.label)
      if (move.isFault) left--
      await move.make()
      await invariant()
    }
    await check()
  } catch (error) {
    throw new Error(`${(error as Error).message}\nafter\n  ${story.join('\n  ')}`, { cause: error })
  }
  rules.played.add(createHash('sha1').update(story.join('\n')).digest('base64').slice(0, NAME_CHARS))
}

/** 96 bits: no two histories of a run will share them by chance. */
const NAME_CHARS = 16

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
