/** Two words of two different mixings, each of which sees every letter (murmur's constants). */
export type Fingerprint = readonly [low: number, high: number]

export function fingerprint(text: string): Fingerprint {
  let low = 0x9e3779b9
  let high = 0x7f4a7c15
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    low = Math.imul(low ^ code, 0x85ebca6b)
    low ^= low >>> 15
    high = Math.imul(high ^ code, 0xc2b2ae35)
    high ^= high >>> 13
  }
  low = mixed(low ^ text.length)
  high = mixed(high ^ Math.imul(low, 0x9e3779b1))
  return [low >>> 0, high >>> 0]
}

function mixed(word: number): number {
  let h = word
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
