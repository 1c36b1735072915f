import { sharedBytes, sharedPath, sharedText } from './shared-folder.ts'

// The reference's own answers (../shared/format/golden), compared by value and never losing a digit.

interface Outcome {
  readonly ok: boolean
  readonly lines?: number
  readonly sha256?: string
  /** Under golden/, where the output was small enough to be kept. */
  readonly file?: string
}

export interface GoldenCase {
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  readonly head: Readonly<Record<'read' | 'read_lenient' | 'fold_lenient' | 'replay_lenient', Outcome>>
}

export interface Probe {
  readonly name: string
  readonly input: string
  /** `OK  <written again>` or `ERR <text>` */
  readonly head: string
}

export interface Difference {
  readonly path: string
  readonly expected: string
  readonly actual: string
}

interface Compare {
  parse(text: string): unknown
  differences(expected: unknown, actual: unknown, options?: object): Difference[]
}

const compare: () => Promise<Compare> = () => import(sharedPath('format/compare.mjs'))

export const goldenCases = (): GoldenCase[] => JSON.parse(sharedText('format/golden/cases.json'))

export const goldenBytes = (file: string): Uint8Array => sharedBytes(`format/golden/${file}`)

/** The lines of an expected output, each one JSON text. */
export const goldenLines = (file: string): string[] => linesOf(sharedText(`format/golden/${file}`))

export const probes = (): Probe[] =>
  linesOf(sharedText('format/golden/probes/probes.jsonl')).map((line) => JSON.parse(line))

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

/** What differs in value between two JSON texts; our views hold null for the secret. */
export async function differences(expected: string, actual: string): Promise<Difference[]> {
  const { parse, differences } = await compare()
  return differences(parse(expected), parse(actual), { redacted: true })
}
