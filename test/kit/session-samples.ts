import { readdirSync, statSync } from 'node:fs'
import type { Harness } from '#schema'
import type { Held } from './session-files.ts'
import { sharedBytes, sharedPath, sharedText } from './shared-folder.ts'

// The synthetic sessions of ../shared/sessions: after each step whole harness homes, and what is to come of them.

export interface SampleStep {
  readonly step: string
  /** Files by the session they belong to. */
  readonly sessions: ReadonlyMap<string, Held>
  readonly documents: readonly Expected[]
}

export interface Expected {
  /** `[<agent>.]expected.json`, or `<session>.expected.json` of Codex. */
  readonly name: string
  readonly id: string
  readonly agent: string | undefined
  readonly bytes: Uint8Array
  /** Of the session, where the sample has one. */
  readonly entry: string | undefined
  /** When its ancestor is not archived. */
  readonly alone: boolean
  readonly stable_messages: number
  readonly stable_bytes: number
  readonly derivation: 'full' | 'append' | 'trailer' | 'unchanged'
  readonly reused: { readonly messages: number; readonly bytes: number }
}

export interface Sample {
  readonly name: string
  readonly harness: Harness
  readonly steps: readonly SampleStep[]
}

interface ManifestStep {
  readonly step: string
  readonly documents: readonly (Pick<Expected, 'stable_messages' | 'stable_bytes' | 'derivation'> & {
    readonly document: string
    readonly reused_prefix?: Expected['reused']
  })[]
}

export function sessionSamples(): Sample[] {
  const root = 'sessions/samples/'
  return (['claude-code', 'codex', 'kimi-code'] as const).flatMap((harness) =>
    readdirSync(sharedPath(root + harness)).map((name) => {
      const folder = `${root}${harness}/${name}/`
      const { steps } = JSON.parse(sharedText(`${folder}manifest.json`)) as { steps: readonly ManifestStep[] }
      return {
        name: `${harness}/${name}`,
        harness,
        steps: steps.map((step) => stepOf(harness, folder, step)),
      }
    }),
  )
}

function stepOf(harness: Harness, folder: string, manifest: ManifestStep): SampleStep {
  const at = `${folder}${manifest.step}/`
  const sessions = new Map<string, Map<string, { bytes: Uint8Array; generation: number }>>()
  for (const file of under(`${at}home/`)) {
    const bytes = sharedBytes(`${at}home/${file}`)
    const place = placeOf(harness, file, bytes)
    if (place === undefined) continue
    const files = sessions.get(place.id) ?? new Map()
    files.set(place.path, { bytes, generation: 1 })
    sessions.set(place.id, files)
  }
  const names = new Set(readdirSync(sharedPath(at)))
  const documents = manifest.documents.map(({ document, reused_prefix, ...rest }) => {
    const bytes = sharedBytes(at + document)
    const { id, agent } = JSON.parse(new TextDecoder().decode(bytes)) as { id: string; agent?: string }
    const catalog = document.replace('expected.json', 'catalog.json')
    const entry = names.has(catalog) ? sharedText(at + catalog) : undefined
    const reused = reused_prefix ?? { messages: 0, bytes: 0 }
    return { ...rest, name: document, id, agent, bytes, entry, alone: document.includes('without'), reused }
  })
  return { step: manifest.step, sessions, documents }
}

function under(folder: string): string[] {
  return readdirSync(sharedPath(folder)).flatMap((name) =>
    statSync(sharedPath(folder + name)).isDirectory()
      ? under(`${folder}${name}/`).map((path) => `${name}/${path}`)
      : [name],
  )
}

function placeOf(harness: Harness, file: string, bytes: Uint8Array) {
  if (harness === 'codex') {
    const id = /"payload":\{"id":"([^"]+)"/.exec(new TextDecoder().decode(bytes))?.[1]
    return { id: id ?? '', path: file.replace(/^.*\//, '') }
  }
  const [, folder = '', path = ''] =
    (harness === 'claude-code'
      ? /^projects\/([^/]+)\/(.+)$/
      : /^sessions\/[^/]+\/session_([^/]+)\/(.+)$/
    ).exec(file) ?? []
  if (path === '') return undefined
  return { id: harness === 'kimi-code' ? folder : path.replace(/(\.jsonl|\/.*)$/, ''), path }
}
