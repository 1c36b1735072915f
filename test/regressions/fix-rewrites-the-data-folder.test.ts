import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

// Whoever had said `npm start` in a checkout had the archives of the store in a folder of it. `npm run check` then failed on
// them, and `npm run fix` formatted what in them is JSON: manifests, facts, and the files of sessions, which are kept verbatim.

const root = fileURLToPath(new URL('../../', import.meta.url))

it('what a server keeps in the checkout is neither checked nor formatted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-fix-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'))
  const untidy = '{"a":1,\n"b" : 2}'
  const kept = join(folder, 'runfold-data/objects/sessions/one/settings.json')
  mkdirSync(dirname(kept), { recursive: true })
  for (const path of [kept, join(folder, 'own.json')]) writeFileSync(path, untidy)
  const { fix } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts
  const [, ...args] = fix.split(' ')
  await promisify(execFile)(join(root, 'node_modules/.bin/biome'), args, { cwd: folder })
  expect(readFileSync(kept, 'utf8')).toBe(untidy)
  expect(readFileSync(join(folder, 'own.json'), 'utf8')).not.toBe(untidy)
})
