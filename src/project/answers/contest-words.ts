/**
 * Accents, as combining marks. Voiced kana keep their marks, because those are other letters. The Greek iota below a
 * letter stays too, because it is a letter in upper case.
 */
const ACCENTS = /[[\p{M}&&\p{Diacritic}]--[\u0345\u3099\u309A]]/gv
/**
 * Invisible characters inside words, such as soft hyphens, joiners and variation selectors (UAX 29, rule WB4). A
 * zero-width space separates words and stays.
 */
const IGNORED = /[[\p{Cf}\p{Default_Ignorable_Code_Point}]--[\p{L}\u200B]]/gv
/** Letters whose stroke is no combining mark. */
const STROKES: Readonly<Record<string, string>> = { đ: 'd', ħ: 'h', ł: 'l', ø: 'o', ŧ: 't', ς: 'σ' }
const STROKED = new RegExp(`[${Object.keys(STROKES).join('')}]`, 'gu')
// A mark belongs to the character before it, so it begins no word.
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|\p{S}/gu

/**
 * Text without case, accents and compatibility forms. All cases of a text have the same result: `ß` becomes `ss`, `İ`
 * becomes `i`.
 */
function fold(text: string): string {
  const plain = withoutAccents(text)
  // Lower case first, because `ẞ` has no upper case of its own.
  const caseless = plain.toLowerCase().toUpperCase().toLowerCase()
  return withoutAccents(caseless)
    .replace(STROKED, (letter) => STROKES[letter] ?? letter)
    .normalize('NFKC')
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replace(ACCENTS, '').replace(IGNORED, '')
}

/**
 * Folded words of a title or of a search, each once. A word is a run of letters, digits and their marks, or one symbol,
 * such as an emoji. Invisible characters are ignored, and everything else separates words.
 */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(fold(text).match(WORD))]
}

/** Words of a search, longest first. Omits a word with which another one begins. */
export function searchWords(text: string): readonly string[] {
  const words = wordsOf(text)
  return words
    .filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
    .toSorted((a, b) => b.length - a.length)
}

/** Words of a title as one text for `hasWords`, with a blank before each. */
export function joinWords(title: string | null): string {
  return title === null
    ? ''
    : wordsOf(title)
        .map((word) => ` ${word}`)
        .join('')
}

/** Whether each word begins a word of a joined title. */
export function hasWords(joined: string, words: readonly string[]): boolean {
  return words.every((word) => joined.includes(` ${word}`))
}
