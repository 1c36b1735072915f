import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { parseJson } from '#codec'
import { digest, type LeaseAnswer, runId, size } from '#schema'
import { writeDurably } from './durable-file.ts'
import type { RunFolder } from './run-folder.ts'

const planShape = z.object({ run_id: runId, epoch: size, tail: size, digest, at: z.int() })

/**
 * What a resume has set out to do under its epoch: to put its frames, made at `at` (Unix seconds), behind the first `tail`
 * bytes. Whatever cuts it off, the next one makes the same frames and sends them to the same place, where they are stored
 * once (P3). A plan of another epoch is void: somebody may have written since.
 */
export type Plan = z.infer<typeof planShape>

export const planOf = async (folder: RunFolder, held: LeaseAnswer, now: number): Promise<Plan> => {
  const { run_id, epoch, tail, digest } = held
  const known = await readPlan(folder)
  if (known?.run_id === run_id && known.epoch === epoch) return known
  const plan = { run_id, epoch, tail, digest, at: Math.floor(now / 1000) }
  await writeDurably(folder.plan, JSON.stringify(plan))
  return plan
}

/** Undefined where no resume is under way. */
export const readPlan = async ({ plan }: RunFolder): Promise<Plan | undefined> => {
  try {
    return planShape.safeParse(parseJson(await readFile(plan, 'utf8'))).data
  } catch {
    return undefined
  }
}
