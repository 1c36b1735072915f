/** Chance from a seed: the same seed, the same run on every machine. */
export interface Chance {
  /** 0 ≤ n < 1 */
  next(): number
  is(probability: number): boolean
  /** An integer from low to high, both included. */
  between(low: number, high: number): number
  pick<T>(list: readonly T[]): T
}

/** A 32-bit Weyl sequence, scrambled by multiplying and shifting. */
export function chanceOf(seed: number): Chance {
  let weyl = seed | 0
  const next = () => {
    weyl = (weyl + 0x9e3779b9) | 0
    let bits = Math.imul(weyl ^ (weyl >>> 16), 0x85ebca6b)
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
    return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => Math.floor(low + next() * (high - low + 1))
  return {
    next,
    between,
    is: (probability) => next() < probability,
    pick: <T>(list: readonly T[]) => list[between(0, list.length - 1)] as T,
  }
}

const PHRASES = [
  'the test failed at line 42',
  'const rows = await read(file)',
  'see "src/import.ts"\n',
  '\tif (!row) continue\n',
  'größer als erwartet',
  '日本語の行',
  '✔ 128 passed',
  '🚀',
  'C:\\work\\data.csv',
  '{"ok":true,"n":1.0}',
  'é is not e\u0301',
  '</script>',
  'retrying in 250 ms…',
  'a line of log that goes on for a while and says little',
]

/** Texts cut from one long text made at the start, so that hundreds of megabytes are soon made. */
export function proseOf(chance: Chance): (length: number) => string {
  let book = ''
  while (book.length < 1 << 16) book += `${chance.pick(PHRASES)} `
  return (length) => {
    const wanted = Math.min(length, book.length >> 1)
    const start = chance.between(0, book.length - wanted)
    return book.slice(start, start + wanted).toWellFormed()
  }
}
