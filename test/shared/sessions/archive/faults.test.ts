import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isRunfoldError, RunfoldError, type SessionKey } from '#schema'
import { createSessionArchive, createSessionMaintainer } from '#sessions/archive'
import type { StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../../../kit/manual-clock.ts'
import { all, altered } from './kit.ts'
import { claudeRow } from './rows.ts'

// Processes that work on one session while their storage fails at any step, against what they were told: whatever was
// acknowledged is there, once, byte for byte; nothing is there that nobody sent; and in the end everything is exact.

const SESSION: SessionKey = { tenant: 't', machine: 'box', harness: 'claude-code', id: 'sid' }
const WRITES = ['put', 'compose', 'remove', 'putHead', 'putFile', 'putClosed', 'forgetFiles'] as const

/** What becomes of a write: nothing, or it is made and nobody is told, or it is not made. */
type Fate = 'made' | 'lost' | 'refused'

/** Ports of which every write meets the next of these fates. */
function fated(ports: StorePorts, fates: () => Fate): StorePorts {
  const wrapped = <T extends object>(target: T): T => {
    const methods = WRITES.filter((name) => name in target).map((name) => {
      const real = target[name as keyof T] as (...args: unknown[]) => Promise<unknown>
      const act = async (...args: unknown[]) => {
        const fate = fates()
        if (fate === 'refused') throw new RunfoldError('unavailable', 'refused')
        const done = await real.apply(target, args)
        if (fate === 'lost') throw new RunfoldError('unavailable', 'lost')
        return done
      }
      return [name, act]
    })
    return altered(target, Object.fromEntries(methods))
  }
  return { ...ports, objects: wrapped(ports.objects), sessions: wrapped(ports.sessions) }
}

const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      path: fc.constantFrom('sid.jsonl', 'sid/x'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      path: fc.constantFrom('sid.jsonl', 'sid/x'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const), path: fc.constant('') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('maintain' as const), path: fc.constant('') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), path: fc.constant('') }) },
)
const fates = fc.infiniteStream(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Fate>('made') },
    { weight: 1, arbitrary: fc.constant<Fate>('lost') },
    { weight: 1, arbitrary: fc.constant<Fate>('refused') },
  ),
)

/** What a daemon knows of a file: the bytes of each generation, and how many of the newest were acknowledged. */
class Source {
  readonly generations: string[] = ['']
  acknowledged = 0
  isKnown = false

  get text(): string {
    return this.generations.at(-1) ?? ''
  }
}

it('what was acknowledged outlives any fault, once and in order, and ends exact', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 25 }), fates, async (script, fate) => {
      const clock = manualClock()
      const sound = memoryPorts(clock)
      const failing = fated(sound, () => fate.next().value as Fate)
      const options = { clock, limits: { max_batch_bytes: 1 << 20 } }
      const sources = new Map<string, Source>()
      let rows = 0

      /** As a daemon ships: again until it is told, from where the server stands. */
      const ship = async (path: string, source: Source) => {
        for (let tries = 0; tries < 40; tries++) {
          const archive = createSessionArchive(failing, options)
          const bytes = Buffer.from(source.text.slice(source.acknowledged))
          const request = { path, generation: source.generations.length, offset: source.acknowledged, bytes }
          try {
            const answer = await archive.append(SESSION, request)
            expect(answer.tail).toBe(source.text.length)
            source.acknowledged = source.text.length
            source.isKnown = true
            return
          } catch (error) {
            if (!isRunfoldError(error, 'unavailable', 'slow_down')) throw error
          }
        }
        throw new Error('it never gets through')
      }
      const check = async () => {
        const archive = createSessionArchive(sound, options)
        for (const [path, source] of sources) {
          if (!source.isKnown) continue
          for (const [n, text] of source.generations.entries()) {
            const file = await archive.raw(SESSION, path, n + 1)
            expect(Buffer.concat(await all(file.bytes(0, file.tail))).toString()).toBe(text)
          }
        }
      }
      const maintain = async (ports: StorePorts) => {
        const archive = createSessionArchive(ports, options)
        await createSessionMaintainer(archive, { graceMs: 3_600_000 })
          .pass()
          .catch(() => {})
      }

      for (const { kind, path } of script) {
        const archive = createSessionArchive(failing, options)
        if (kind === 'append' || kind === 'begin') {
          const source = sources.get(path) ?? new Source()
          sources.set(path, source)
          if (kind === 'begin' && source.isKnown) {
            source.generations.push('')
            source.acknowledged = 0
          }
          const end = source.generations.length - 1
          source.generations[end] = source.text + claudeRow(2 * rows++, 'text')
          await ship(path, source)
        } else if (kind === 'read') await archive.document(SESSION).catch(() => {})
        else if (kind === 'maintain') await maintain(failing)
        else clock.advance(5_000_000)
        await check()
      }

      for (let hour = 0; hour < 3; hour++) {
        await maintain(sound)
        clock.advance(4_000_000)
      }
      await maintain(sound)
      await check()
      const main = sources.get('sid.jsonl')
      if (!main) return
      const archive = createSessionArchive(sound, options)
      const { sha256, bytes, body } = await archive.document(SESSION)
      const document = Buffer.concat(await all(body(0, bytes))).toString()
      expect(JSON.parse(document).messages).toHaveLength(main.text.split('\n').length - 1)
      const fresh = createSessionArchive({ ...sound, sessions: sound.sessions }, options)
      const [entry] = (await fresh.list(SESSION.tenant, { limit: 9 })).items
      expect(entry?.document).toEqual({ bytes, sha256 })
    }),
    { numRuns: 60 },
  )
}, 60_000)
