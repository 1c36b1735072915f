import { setTimeout as sleep } from 'node:timers/promises'
import { Daemon } from './daemon.ts'
import type { Machine } from './machine.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

/** A run, where it should be, and the daemons of other machines that still take it for theirs. */
interface Played {
  readonly run: string
  owner: Machine
  daemon: Daemon
  zombies: Daemon[]
  /** Nobody writes while it is brought elsewhere. */
  isMoving: boolean
}

export interface Counts {
  kills: number
  pauses: number
  cuts: number
  resumes: number
}

export interface Scene {
  readonly world: World
  readonly random: Random
  readonly counts: Counts
  readonly runs: readonly Played[]
  readonly log: (line: string) => void
}

/** Longer than the leases of the watchers. */
const PAUSE_MS = 6500
const BETWEEN_MS = 500
const AT_ONCE = 4
const TRIES = 12

type Mishap = (scene: Scene) => Promise<void>

/** All of them, so many times each, in an order that the seed decides; some overlap. */
export const mishaps = async (scene: Scene, rounds: number): Promise<void> => {
  const going = new Set<Promise<void>>()
  const failures: unknown[] = []
  const waiting = Array.from({ length: rounds }, () => ROUND).flat()
  while (waiting.length > 0) {
    const [mishap] = waiting.splice(scene.random.below(waiting.length), 1) as [Mishap]
    const happening = mishap(scene)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => going.delete(happening))
    going.add(happening)
    await sleep(BETWEEN_MS)
    if (going.size >= AT_ONCE) await Promise.race(going)
  }
  await Promise.all(going)
  if (failures.length > 0) throw new AggregateError(failures, 'what was to go wrong went wrong itself')
}

const kill = async ({ world, random, counts }: Scene) => {
  const machine = random.pick(world.machines)
  await machine.signal('SIGKILL')
  counts.kills++
  await sleep(random.below(1000))
  machine.watch()
}

const killServer = async ({ world, counts }: Scene) => {
  counts.kills++
  await world.restartServer()
}

const cut = async ({ world, random, counts }: Scene) => {
  const { link } = random.pick(world.machines)
  link.cut()
  counts.cuts++
  await sleep(500 + random.below(2000))
  link.mend()
}

/** The process sleeps for longer than its leases; one of its runs goes elsewhere meanwhile, and nobody needs force for it. */
const pause = async (scene: Scene) => {
  const { random, counts } = scene
  const played = random.pick(scene.runs.filter(({ isMoving }) => !isMoving))
  const { owner } = played
  void owner.signal('SIGSTOP')
  counts.pauses++
  await Promise.all([sleep(PAUSE_MS), move(scene, played, ['--wait', '20'])])
  void owner.signal('SIGCONT')
}

const seize = (scene: Scene) => move(scene, pickRun(scene), ['--force'])

const cutOffResume = (scene: Scene) =>
  move(scene, pickRun(scene), ['--force'], 300 + scene.random.below(1500))

/** The watcher sends what it has and gives its leases back, as when a machine is shut down in good order. */
const handOver = async (scene: Scene) => {
  const played = pickRun(scene)
  const { owner } = played
  played.isMoving = true
  played.daemon.finish()
  await owner.signal('SIGTERM')
  await move(scene, played, ['--wait', '20'])
  owner.watch()
}

const pickRun = ({ random, runs }: Scene) => random.pick(runs.filter(({ isMoving }) => !isMoving))

/** Brings a run to another machine, again and again until it is there. The old daemon may not notice, and writes on. */
const move = async (
  scene: Scene,
  played: Played,
  how: readonly string[],
  killAfterMs?: number,
): Promise<void> => {
  const { world, random, counts } = scene
  const { run, owner, daemon } = played
  const target = random.pick(world.machines.filter((machine) => machine !== owner))
  played.isMoving = true
  played.zombies = played.zombies.filter(({ machine_id }) => machine_id !== target.id)
  if (random.chance(0.5)) played.zombies.push(daemon)
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const resume = target.resume(run, ...(attempt < 3 ? how : ['--force']))
    const isCutOff = killAfterMs !== undefined && attempt === 0
    const timer = setTimeout(() => isCutOff && resume.child.kill('SIGKILL'), killAfterMs ?? 0)
    const code = await resume.ended
    clearTimeout(timer)
    if (code === 0) {
      counts.resumes++
      played.owner = target
      played.daemon = new Daemon(run, target.id, target.archiveOf(run))
      played.isMoving = false
      return
    }
    if (code === null) counts.kills++
    else scene.log(`chaos: ${run} to ${target.id} ended with ${code}: ${resume.complaint().trim()}`)
    target.link.mend()
  }
  throw new Error(`${run} could not be brought to ${target.id}`)
}

const ROUND: readonly Mishap[] = [
  kill,
  kill,
  cut,
  pause,
  seize,
  seize,
  cutOffResume,
  cutOffResume,
  handOver,
  killServer,
]
