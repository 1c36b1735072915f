// How many columns of a terminal a text takes. Agents write in all scripts, and a table that counts letters is crooked and
// wider than the terminal as soon as one of them is Chinese, Japanese, Korean, or an emoji.

/** Marks on the letter before them, variation selectors among them, and joiners. */
const NONE = /\p{Mn}|\p{Me}|\u200b|\u200c|\u200d/u

/** East Asian Wide and Fullwidth of Unicode's annex 11, by block, and what is shown as an emoji. */
const TWO =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u

const PLAIN = /^[\x20-\x7e]*$/

/** Columns of a text without control characters. */
export const widthOf = (text: string): number => {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const char of text) width += widthOfChar(char)
  return width
}

const widthOfChar = (char: string): number => (NONE.test(char) ? 0 : TWO.test(char) ? 2 : 1)

/** Cut to `width` columns, the cut marked. */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ''
  let room = width - 1
  for (const char of text) {
    room -= widthOfChar(char)
    if (room < 0) break
    kept += char
  }
  return `${kept}…`
}

/** Filled up with blanks to `width` columns, behind the text or before it. */
export const padded = (text: string, width: number, align: 'left' | 'right' = 'left'): string => {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'right' ? blanks + text : text + blanks
}
