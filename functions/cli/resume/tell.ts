import { stat } from 'node:fs/promises'
import prettyBytes from 'pretty-bytes'
import type { PendingBatch } from '#schema'
import { counted } from '../../counted.ts'
import type { Resumed } from '../../daemon/resume/resume.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'

/** Says what was brought, and what is left to do before a daemon goes on; never the secret that stands in the meta. */
export const tellResumed = async ({ json, out, err }: Session, resumed: Resumed): Promise<void> => {
  const { meta, pending, ...facts } = resumed
  const { status, current_stage, iteration, workdir, agent_path } = meta
  const missing = await missingOf({ workdir, agent_path })
  if (json) {
    const progress = { status, current_stage, iteration, workdir, agent_path }
    return out.json({ ...facts, ...progress, missing, pending_batch: callsOf(pending) })
  }
  const { run_id, folder, outcome, previous, former, epoch, tail } = resumed
  const run = oneLine(run_id)
  if (outcome === 'here')
    await out.line(`${run}: this machine has it already, in ${oneLine(folder)} (epoch ${epoch})`)
  else {
    const before = previous ? ` from ${previous.machine_id}/${previous.world_id}` : ''
    await out.line(`${run}: taken over${before}, epoch ${epoch}; ${prettyBytes(tail)} in ${oneLine(folder)}`)
  }
  await out.line(`  ${status} in stage ${oneLine(current_stage)}, iteration ${iteration}`)
  for (const line of pendingLines(pending)) await out.line(`  ${line}`)
  if (former.outcome === 'put_aside') {
    const { path, bytes, offset } = former
    await err.line(
      `${run}: the run.lvr that was here had ${counted(bytes, 'byte')} from ${offset} on that ${bytes === 1 ? 'is' : 'are'} in no archive; it is now ${oneLine(path)}`,
    )
  }
  for (const [name, path] of Object.entries(missing)) {
    await err.line(
      `${run}: ${name} ${oneLine(path)} is not on this machine; name another with --${name.replace('_', '-')} OLD=NEW`,
    )
  }
}

const callsOf = (pending: PendingBatch | null) =>
  pending && {
    iteration: pending.iteration,
    calls: pending.calls.map(({ id, name, result }) => ({ id, name, done: result !== null })),
  }

const pendingLines = (pending: PendingBatch | null): string[] => {
  if (!pending) return ['no tool call was under way']
  const calls = pending.calls.map(({ id, name, result }) => {
    const state = result === null ? 'no result: verify what it did before it is run again' : 'done'
    return `  ${oneLine(name)} (${oneLine(id)}): ${state}`
  })
  const done = pending.calls.filter(({ result }) => result !== null).length
  return [
    `${counted(pending.calls.length, 'tool call was', 'tool calls were')} under way, ${done} of them done:`,
    ...calls,
  ]
}

const missingOf = async (paths: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
  const checked = await Promise.all(
    Object.entries(paths).map(async ([name, path]) => {
      const isThere = path === '' || (await stat(path).catch(() => undefined)) !== undefined
      return isThere ? [] : [[name, path] as const]
    }),
  )
  return Object.fromEntries(checked.flat())
}
