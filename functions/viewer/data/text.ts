/**
 * Characters that cannot be seen and can mislead: controls, embedding and override of direction, lone surrogates, line
 * separators, zero-width spaces, and tags (which can carry whole hidden sentences) but in flags. Joiners and plain
 * direction marks stay: emoji and right-to-left text need them.
 */
const HIDDEN =
  /[^\P{Cc}\t\n]|\p{Cs}|[\u200b\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]|(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]*)[\u{e0000}-\u{e007f}]/gu

/** A stretch of text, or one character that has to be named to be seen. */
export type Piece = string | { readonly hidden: string }

/** The text in pieces; mostly it is one. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const { 0: char, index } of text.matchAll(HIDDEN)) {
    if (char === '\r' && text[index + 1] === '\n') continue
    if (index > from) pieces.push(text.slice(from, index))
    pieces.push({ hidden: nameOf(char) })
    from = index + char.length
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}

/** The text for places that hold nothing but characters, such as titles. */
export const plain = (text: string): string =>
  piecesOf(text)
    .map((piece) => (typeof piece === 'string' ? piece : piece.hidden))
    .join('')

/** `␀` for a control, `U+202E` for the rest. */
function nameOf(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

export interface Folded {
  readonly text: string
  readonly isCut: boolean
}

/** The beginning of a text: so many characters and lines at most, never half a surrogate pair. */
export function folded(text: string, maxChars: number, maxLines = Number.POSITIVE_INFINITY): Folded {
  let end = Math.min(text.length, maxChars)
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) {
    if (++lines >= maxLines) end = at
  }
  if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--
  return { text: text.slice(0, end), isCut: end < text.length }
}

const BLOCK_CHARS = 16_384

/** A long text in blocks that a browser can lay out one by one, cut at line ends where there are any. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + BLOCK_CHARS)
    if (end < text.length) {
      const line = text.lastIndexOf('\n', end)
      if (line > at) end = line + 1
      else if (isHighSurrogate(text.charCodeAt(end - 1))) end--
    }
    blocks.push(text.slice(at, end))
    at = end
  }
  return blocks
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
