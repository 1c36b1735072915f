import { randomInt } from 'node:crypto'
import { runChaos } from '../chaos/chaos.ts'
import type { Figures } from './figures.ts'

const ROUNDS = 6

/**
 * Twenty runs on four machines of which everything fails now and then (test/chaos). `lost`, `doubled` and `fenced_bytes` must be 0.
 * CHAOS_SEED plays the mishaps of an earlier run again.
 */
export async function chaosBench(log: (line: string) => void, isShort: boolean): Promise<Figures> {
  const seed = Number(process.env.CHAOS_SEED ?? randomInt(2 ** 31))
  const { wrong, ...figures } = await runChaos({ seed, rounds: isShort ? 1 : ROUNDS, log })
  return { ...figures, seed, wrong: wrong.length }
}
