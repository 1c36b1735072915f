import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { collected } from '../kit/stored-run.ts'
import { Daemon } from './daemon.ts'
import type { Machine } from './machine.ts'
import { type Counts, mishaps, type Scene } from './mishaps.ts'
import { type Random, randomOf } from './random.ts'
import { judge, type Verdict } from './verdict.ts'
import { openWorld, type World } from './world.ts'

const RUNS = 20
const BEAT_MS = 250

export interface ChaosOptions {
  readonly seed: number
  /** How often each mishap happens. */
  readonly rounds: number
  readonly log: (line: string) => void
}

interface Chaos extends Verdict, Counts {
  /** Former owners that tried to write on and were told. */
  readonly refused: number
}

/**
 * Twenty runs on four machines that are killed, paused, cut off and wrong about the time, against a server that is killed, on a
 * storage that fails; runs go to other machines, by hand-over and by force, while their old daemons write on. Then everything
 * works again, and what was stored is judged.
 */
export const runChaos = async ({ seed, rounds, log }: ChaosOptions): Promise<Chaos> => {
  log(`chaos: seed ${seed}`)
  const random = randomOf(seed)
  const world = await openWorld(seed)
  const counts: Counts = { kills: 0, pauses: 0, cuts: 0, resumes: 0 }
  try {
    const runs = begin(world, random)
    const scene: Scene = { world, random, counts, runs, log }
    for (const machine of world.machines) machine.watch()
    await started(scene)
    const writing = new AbortController()
    const written = write(scene, writing.signal)
    await mishaps(scene, rounds)
    writing.abort()
    await written
    await settle(scene)
    const verdict = judge(await outcomes(scene))
    const refused = world.machines.reduce((sum, machine) => sum + machine.refused, 0)
    for (const line of verdict.wrong) log(line)
    log(
      `chaos: ${JSON.stringify({ ...counts, refused, takeovers: verdict.takeovers, frames: verdict.frames })}`,
    )
    return { ...verdict, ...counts, refused }
  } finally {
    await world.close()
  }
}

const begin = ({ machines }: World, { pick }: Random): Scene['runs'] =>
  Array.from({ length: RUNS }, (_, n) => {
    const run = `run-${n}`
    const owner = pick(machines)
    owner.makeFolder(run)
    const daemon = new Daemon(run, owner.id, owner.archiveOf(run))
    daemon.begin()
    return { run, owner, daemon, zombies: [], isMoving: false }
  })

const started = async ({ world: { machines }, runs }: Scene): Promise<void> => {
  const isThere = ({ run }: Scene['runs'][number]) => machines.some(({ acked }) => acked.has(run))
  while (!runs.every(isThere)) await sleep(BEAT_MS)
}

/** Every daemon writes now and then, those that have lost their run without knowing it too. */
const write = async ({ runs, random }: Scene, stop: AbortSignal): Promise<void> => {
  while (!stop.aborted) {
    for (const { daemon, zombies, isMoving } of runs) {
      if (!isMoving && random.chance(0.3)) daemon.write(random)
      for (const zombie of zombies) if (random.chance(0.2)) zombie.write(random)
    }
    await sleep(BEAT_MS, undefined, { signal: stop }).catch(() => undefined)
  }
}

/** Nothing goes wrong any more: what the owners have gets to the server. */
const settle = async ({ world, runs, log }: Scene): Promise<void> => {
  const { machines, client } = world
  for (const { daemon } of runs) daemon.finish()
  for (const machine of machines) machine.link.mend()
  await Promise.all(machines.map(ended))
  for (let attempt = 0; attempt < 20; attempt++) {
    const complaints = await Promise.all(machines.map((machine) => machine.watchOnce()))
    const behind = await Promise.all(
      runs.map(
        async ({ run, owner }) => (await client.tail(run)).tail !== statSync(owner.archiveOf(run)).size,
      ),
    )
    if (!behind.includes(true)) return
    log(`chaos: ${behind.filter(Boolean).length} runs are still behind ${complaints.join(' ')}`)
    await sleep(BEAT_MS)
  }
}

const ended = async (machine: Machine): Promise<void> => {
  void machine.signal('SIGCONT')
  await machine.signal('SIGTERM')
}

const outcomes = ({ world: { client, machines }, runs }: Scene) =>
  Promise.all(
    runs.map(async ({ run, owner }) => {
      const { tail } = await client.tail(run)
      const { chunks } = await client.archive(run, { start: 0, end: tail })
      const { history } = await client.leaseState(run)
      return { run, owner, machines, history, archive: Buffer.from(await collected(chunks)) }
    }),
  )
