/**
 * Text as it is compared where case does not matter, in full case folding but for the rules of single languages: `Straße`,
 * `STRASSE`, `STRAẞE` and `strasse` are one. What is part of a text is part of it folded too, so a small sigma at the end of
 * a word, which is another letter there, counts as any.
 */
export const caseless = (text: string): string =>
  text
    .toLowerCase() // first, since a large ẞ is only taken apart as a small one
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
