import type { Move } from './faulty-ports.ts'

// Delay-bounded scheduling (Emmi, Qadeer and Rakamarić, 2011). With many actors all orders of their steps are too many;
// but a bug seldom needs more than two or three interruptions. So actors go one after the other, each until it is through,
// and only so many times in a history one that could go on has to let the next go first.
//
//   no delays     a a a a b b b c c c
//   one           a a b b b c c c a a      a waited after its second step, and comes again when the others are through

/** Whose turn it is. */
export interface Turns {
  /** The moves of those that may go now. */
  among(moves: readonly Move[]): Move[]
  take(move: Move): void
}

/** @param delays Infinity lets everybody go at any time */
export function turns(delays: number): Turns {
  /** In order of appearance. */
  const actors: string[] = []
  let current = 0
  let left = delays

  /** How many that could go are passed over when this actor goes; `able` are those that can. */
  const costOf = (actor: string, able: ReadonlySet<string>) => {
    let cost = 0
    for (let at = current; actors[at] !== actor; at = (at + 1) % actors.length) {
      if (able.has(actors[at] as string)) cost++
    }
    return cost
  }
  let costs = new Map<string, number>()

  return {
    among: (moves) => {
      if (left === Number.POSITIVE_INFINITY) return [...moves]
      const able = new Set(moves.map(({ actor }) => actor))
      for (const actor of able) if (!actors.includes(actor)) actors.push(actor)
      costs = new Map([...able].map((actor) => [actor, costOf(actor, able)]))
      return moves.filter(({ actor }) => (costs.get(actor) as number) <= left)
    },
    take: ({ actor }) => {
      left -= costs.get(actor) ?? 0
      current = Math.max(0, actors.indexOf(actor))
    },
  }
}
