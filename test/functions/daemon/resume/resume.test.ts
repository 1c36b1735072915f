import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encodeArchive } from '#codec'
import { RESUME_STEPS } from '../../../../functions/daemon/resume/resume.ts'
import { takeLease } from '../../../../functions/daemon/resume/take-lease.ts'
import { lostAnswer } from '../../../shared/client/kit.ts'
import { frameOf, kindsOf, modeOf, NEW, OLD, RECORDS, SECRET, twoMachines } from './kit.ts'

const say = (content: string) => ({ Message: { message: { role: 'user', content }, at: 1 } })
const OWNED = ['OwnershipChanged', 'ContextCheckpoint']

describe('a resumed run', () => {
  it('is here byte for byte, and its archive says who owns it now', async () => {
    const { resume, archive, local, bytes, epoch, run, client } = await twoMachines()
    const resumed = await resume()
    expect(resumed).toMatchObject({ run_id: run, outcome: 'resumed', epoch: epoch + 1, previous: OLD })
    expect(JSON.stringify(resumed)).not.toContain(SECRET)
    const stored = await archive()
    expect(local().equals(stored)).toBe(true)
    expect(stored.subarray(0, bytes.length).equals(bytes)).toBe(true)
    expect(kindsOf(stored).slice(RECORDS.length)).toEqual(OWNED)
    expect(resumed.tail).toBe(stored.length)
    const { folded } = await client.fold(run)
    expect(folded).toMatchObject({ identity: NEW, context: { stage_name: 'build', total_tokens: 3 } })
  })

  it('has the folder that a daemon expects, for nobody else to read', async () => {
    const { resume, folder, run } = await twoMachines()
    await resume()
    const meta = JSON.parse(readFileSync(folder.meta, 'utf8'))
    expect(meta).toMatchObject({
      run_id: 'run',
      status: 'waiting_input',
      iteration: 2,
      callback_secret: SECRET,
      metadata: { team: 'ü' },
      workdir: '/home/old/work',
    })
    expect(meta).not.toHaveProperty('read_paths')
    const context = JSON.parse(readFileSync(folder.context, 'utf8'))
    expect(context).toMatchObject({ stage_name: 'build', regions: [{ name: 'notes', current_tokens: 3 }] })
    expect(readdirSync(folder.path).sort()).toEqual(['context.json', 'meta.json', 'run.lvr'])
    for (const path of [folder.archive, folder.meta, folder.context]) expect(modeOf(path)).toBe('600')
    expect(modeOf(folder.path)).toBe('700')
    expect(run).not.toBe('run')
  })

  it('tells which calls of the pending batch are done', async () => {
    const { resume } = await twoMachines()
    const { pending } = await resume()
    expect(pending?.calls.map(({ id, result }) => [id, result])).toEqual([
      ['c1', 'done'],
      ['c2', null],
    ])
  })

  it('has its paths as this machine names them', async () => {
    const { resume, folder } = await twoMachines()
    await resume({
      paths: [
        { field: 'workdir', from: '/home/ol', to: '/wrong' },
        { field: 'workdir', from: '/home/old', to: '/home/new/' },
        { field: 'agent_path', from: undefined, to: '/opt/agent' },
      ],
    })
    const { workdir, agent_path } = JSON.parse(readFileSync(folder.meta, 'utf8'))
    expect({ workdir, agent_path }).toEqual({ workdir: '/home/new/work', agent_path: '/opt/agent' })
  })

  it('refuses the next append of who had it, and tells who has it', async () => {
    const { resume, client, run, epoch, bytes } = await twoMachines()
    await resume()
    const late = client.append(run, { offset: bytes.length, epoch, bytes: frameOf(RECORDS[4] as never) })
    await expect(late).rejects.toMatchObject({ code: 'fenced', facts: { lease: NEW } })
  })

  it('goes back to the machine that had it before, which need not fetch what it has', async () => {
    const { resume, options, client, run, folder, archive } = await twoMachines()
    const { epoch } = await resume()
    await client.release(run, epoch)
    const other = await client.acquire(run, OLD)
    await client.append(run, { offset: other.tail, epoch: other.epoch, bytes: frameOf(RECORDS[4] as never) })
    await client.release(run, other.epoch)
    const before = readFileSync(folder.archive).length
    let begun = 0
    const again = await resume({
      fetch: (path, promised) => {
        begun = statSync(`${path}.part`).size
        return options().fetch(path, promised)
      },
    })
    expect(again.former).toEqual({ outcome: 'continued' })
    expect(readFileSync(folder.archive).equals(await archive())).toBe(true)
    expect(kindsOf(readFileSync(folder.archive)).slice(RECORDS.length)).toEqual([
      ...OWNED,
      'StatusChanged',
      ...OWNED,
    ])
    expect(begun).toBe(before)
  })
})

describe('a resume', () => {
  it.each(RESUME_STEPS)(
    'that was cut off after `%s` is completed by the next, and nothing is doubled',
    async (step) => {
      const { resume, archive, local, folder } = await twoMachines()
      const cut = resume({
        onStep: (done) => {
          if (done === step) throw new Error('power cut')
        },
      })
      await expect(cut).rejects.toThrow('power cut')
      // Time has gone by, and the second try must still make the same frames.
      const resumed = await resume({ now: () => 1_790_000_999_000 })
      expect(resumed.outcome).toBe('resumed')
      const stored = await archive()
      expect(local().equals(stored)).toBe(true)
      expect(kindsOf(stored).slice(RECORDS.length)).toEqual(OWNED)
      expect(existsSync(folder.work)).toBe(false)
      expect(JSON.parse(readFileSync(folder.meta, 'utf8')).callback_secret).toBe(SECRET)
    },
  )

  it.each(RESUME_STEPS)(
    'that was cut off after `%s`, and another has written since, begins anew',
    async (step) => {
      const { resume, client, run, archive, local } = await twoMachines()
      const cut = resume({
        onStep: (done) => {
          if (done === step) throw new Error('power cut')
        },
      })
      await expect(cut).rejects.toThrow()
      const third = { machine_id: 'third', world_id: 'w' }
      const { epoch, tail } = await client.acquire(run, { ...third, force: true })
      const bytes = frameOf({ OwnershipChanged: { ...third, at: 1 } })
      await client.append(run, { offset: tail, epoch, bytes })
      await resume()
      const stored = await archive()
      expect(local().equals(stored)).toBe(true)
      expect(kindsOf(stored).slice(-3)).toEqual(['OwnershipChanged', ...OWNED])
    },
  )

  it('whose answers are lost is done once', async () => {
    const { resume, archive, server } = await twoMachines()
    const parts = await resume({
      onStep: (step) => {
        if (step === 'staged') server.mishaps.push(lostAnswer, lostAnswer)
      },
    })
    expect(kindsOf(await archive()).slice(RECORDS.length)).toEqual(OWNED)
    expect(parts.tail).toBe((await archive()).length)
  })

  it('stops when another takes the run meanwhile, and leaves no run.lvr', async () => {
    const { resume, client, run, folder, archive, bytes } = await twoMachines()
    const third = { machine_id: 'third', world_id: 'w' }
    const lost = resume({
      fetch: async (path) => {
        await client.acquire(run, { ...third, force: true })
        writeFileSync(path, bytes)
      },
    })
    await expect(lost).rejects.toMatchObject({ code: 'fenced', facts: { lease: third } })
    expect(existsSync(folder.archive)).toBe(false)
    expect((await archive()).equals(bytes)).toBe(true)
  })

  it('keeps the bytes that this machine had and no archive has', async () => {
    const { resume, folder, bytes, archive } = await twoMachines()
    mkdirSync(folder.path)
    const unsent = frameOf(RECORDS[4] as never)
    const offset = encodeArchive(RECORDS.slice(0, 1)).length
    writeFileSync(folder.archive, Buffer.concat([bytes.subarray(0, offset), unsent]))
    const { former } = await resume()
    expect(former).toMatchObject({ outcome: 'put_aside', bytes: unsent.length, offset })
    const { path } = former as { path: string }
    expect(readFileSync(path).subarray(offset).equals(Buffer.from(unsent))).toBe(true)
    expect(readFileSync(folder.archive).equals(await archive())).toBe(true)
  })

  it('puts nothing over what was put aside before', async () => {
    const { resume, folder, bytes } = await twoMachines()
    const other = (text: string) => Buffer.concat([bytes.subarray(0, 6), frameOf(say(text))])
    mkdirSync(folder.path)
    writeFileSync(folder.archive, other('one'))
    await resume()
    writeFileSync(folder.archive, other('two'))
    await resume()
    const kept = readdirSync(folder.path).filter((name) => name.startsWith('run.lvr.'))
    expect(kept).toEqual(['run.lvr.before-epoch-2', 'run.lvr.before-epoch-2-2'])
    expect(readFileSync(`${folder.archive}.before-epoch-2`).equals(other('one'))).toBe(true)
  })

  it('sends first what this machine had written and could not send', async () => {
    const { resume, folder, bytes, archive } = await twoMachines()
    mkdirSync(folder.path)
    const unsent = frameOf(RECORDS[4] as never)
    writeFileSync(folder.archive, Buffer.concat([bytes, unsent, Buffer.from([1, 1, 1])]))
    const { former } = await resume()
    expect(former).toMatchObject({ outcome: 'put_aside', bytes: 3 }) // the torn ones
    const stored = await archive()
    expect(kindsOf(stored).slice(RECORDS.length)).toEqual(['StatusChanged', ...OWNED])
    expect(readFileSync(folder.archive).equals(stored)).toBe(true)
  })

  it('brings a run that this machine holds but has no longer whole', async () => {
    const { resume, archive, local, folder } = await twoMachines()
    await resume()
    writeFileSync(folder.archive, local().subarray(0, 100))
    expect((await resume()).outcome).toBe('resumed')
    expect(local().equals(await archive())).toBe(true)
  })

  it('of a run that this machine has changes nothing', async () => {
    const { resume, archive, local, folder } = await twoMachines()
    await resume()
    const stored = await archive()
    const daemon = Buffer.concat([local(), frameOf(RECORDS[4] as never)])
    writeFileSync(folder.archive, daemon) // not yet sent
    writeFileSync(folder.meta, 'the daemon’s own')
    const again = await resume()
    expect(again.outcome).toBe('here')
    expect((await archive()).equals(stored)).toBe(true)
    expect(local().equals(daemon)).toBe(true)
    expect(readFileSync(folder.meta, 'utf8')).toBe('the daemon’s own')
  })

  it('of a run that has ended, or has no Header, is refused before anybody is disturbed', async () => {
    const ended = await twoMachines([...RECORDS, { StatusChanged: { status: 'complete', at: 9 } }])
    await expect(ended.resume()).rejects.toMatchObject({ code: 'bad_request' })
    const headless = await twoMachines(RECORDS.slice(1))
    await expect(headless.resume()).rejects.toMatchObject({
      code: 'bad_frames',
      facts: { reason: 'no_header' },
    })
    for (const { client, run } of [ended, headless]) {
      expect((await client.leaseState(run)).lease).toMatchObject(OLD)
    }
    await expect(ended.resume({ run: 'nothing' })).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the lease of a run to resume', () => {
  it('is waited for, and who has it is told once', async () => {
    const { client, run, epoch } = await twoMachines()
    const holders: string[] = []
    const waits = takeLease({
      client,
      run,
      worker: NEW,
      now: Date.now,
      onHeld: ({ machine_id }) => {
        holders.push(machine_id)
        void client.release(run, epoch)
      },
    })
    expect((await waits).lease).toMatchObject(NEW)
    expect(holders).toEqual([OLD.machine_id])
  })

  it('is not waited for longer than was said', async () => {
    const { client, run } = await twoMachines()
    const refused = takeLease({ client, run, worker: NEW, now: Date.now, wait_s: 0 })
    await expect(refused).rejects.toMatchObject({ code: 'lease_held' })
  })
})
