import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { parseJson } from '#codec'
import { digest, runId, size } from '#schema'
import { writeDurably } from './durable-file.ts'
import type { RunFolder } from './run-folder.ts'

const planShape = z.object({ run_id: runId, epoch: size, tail: size, digest, at: z.int() })

/**
 * What a resume has set out to do under its epoch: to put its frames, made at `at` (Unix seconds), behind the first `tail`
 * bytes. Whatever cuts it off, the next one makes the same frames and sends them to the same place, where they are stored
 * once (P3). A plan of another epoch is void: somebody may have written since.
 */
export type Plan = z.infer<typeof planShape>

/** The plan that a resume under this epoch has left; undefined where there is none. */
export const planOf = async (folder: RunFolder, epoch: number): Promise<Plan | undefined> => {
  const known = await readPlan(folder)
  return known?.epoch === epoch ? known : undefined
}

export const writePlan = async (folder: RunFolder, plan: Plan): Promise<Plan> => {
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
