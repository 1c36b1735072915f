// Keys become paths that are safe where file names know no upper and lower case, and that can be turned back: a part with
// capital letters is written small, with a bit mask of which were capital behind a `~`, which no part of a key holds.
//
//   runs/default/Fix-API   →   runs/default/fix-api~71        0111'0001: F, A, P, I
//
// A part of 128 capitals makes 161 characters. A part that ends in a dot gets `~0`, for systems that would drop the dot.

/** The path of a key, each part of it encoded. */
export function pathOf(key: string): string {
  return key.split('/').map(encode).join('/')
}

/** The part of a key that `encode` made this file name of; undefined for a name that it never makes. */
export function decode(name: string): string | undefined {
  const [small, mask = '0'] = /^([^~]*)(?:~([0-9a-f]+))?$/.exec(name)?.slice(1) ?? []
  const bits = BigInt(`0x${mask}`)
  return (
    small &&
    [...small].map((letter, i) => ((bits >> BigInt(i)) & 1n ? letter.toUpperCase() : letter)).join('')
  )
}

/** The file name of a part of a key. */
export function encode(part: string): string {
  const small = part.toLowerCase()
  let bits = 0n
  for (let i = 0; i < part.length; i++) if (part[i] !== small[i]) bits |= 1n << BigInt(i)
  return bits > 0n || part.endsWith('.') ? `${small}~${bits.toString(16)}` : small
}
