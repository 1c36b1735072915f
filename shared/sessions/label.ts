/** Code points of a label; one that is longer ends in `…`. */
const LABEL_LENGTH = 72

/** TAB, LF, VT, FF, CR and space (SESSIONS.md 3); others are letters. */
const BLANK = /[\t\n\v\f\r ]/

/** A text as one line of at most 72 code points; `undefined` when nothing of it is left. Reads no more than it shows. */
export function labelOf(text: string): string | undefined {
  const letters: string[] = []
  let blank = false
  for (const letter of text) {
    if (BLANK.test(letter)) {
      blank = letters.length > 0
      continue
    }
    if (blank) letters.push(' ')
    blank = false
    letters.push(letter)
    if (letters.length > LABEL_LENGTH) return `${letters.slice(0, LABEL_LENGTH - 1).join('')}…`
  }
  return letters.length === 0 ? undefined : letters.join('')
}
