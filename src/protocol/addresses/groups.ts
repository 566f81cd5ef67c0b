import { gluedEdges } from './glued-words.ts'
import { isEven, type LetterRun } from './letter-run.ts'

const WORD = /[0-9A-Za-z]+/g
/** Letters that base58 leaves out; a run of base58 ends there. */
const OUTSIDE_BASE58 = /[0OIl]/g

/** Characters of the shortest address without a prefix of its own. Shorter words and joined groups are not searched. */
const CHARS_MIN = 20

/**
 * Words of a text as whole words. Candidates begin and end at the ends of a word, at words glued to it, and at 0, O, I
 * and l.
 */
export function wholeRuns(text: string): readonly LetterRun[] {
  return longWords(text).map((word) => {
    const edges = new Uint8Array(word.length + 1)
    edges[0] = edges[word.length] = 1
    const glued = gluedEdges(word)
    for (const at of glued) edges[at] = 1
    for (const { index } of word.matchAll(OUTSIDE_BASE58)) edges[index] = edges[index + 1] = 1
    return { text: word, edges, glued, fit: 'whole', trusts: () => true }
  })
}

/** Words of a text, each searched from any character to any other. */
export function partRuns(text: string): readonly LetterRun[] {
  return longWords(text).map((word) => ({
    text: word,
    edges: new Uint8Array(word.length + 1).fill(1),
    glued: [],
    fit: 'part',
    trusts: () => false,
  }))
}

function longWords(text: string): readonly string[] {
  return (text.match(WORD) ?? []).filter((word) => word.length >= CHARS_MIN)
}

/** Dots, bullets, and dashes that Unicode does not count as such. */
const DOTS = '.·•‧∙⋅。・◦●⦁⸱᛫ꞏ۔⁃˗➖─━−'
/** Characters between groups that people leave out: blanks, hyphens and dots of every script, underscores, plus signs. */
const JOINT = String.raw`\s\p{Pd}_+${DOTS}`
const NEITHER = new RegExp(`[^0-9A-Za-z${JOINT}]+`, 'u')
/** The same without the underscore. */
const NO_UNDERSCORE_JOINT = new RegExp(String.raw`[\s\p{Pd}+${DOTS}]+`, 'gu')
/** The same without the characters of base64: hyphen, underscore and plus sign. */
const JOINT_64 = new RegExp(String.raw`(?:(?!-)[\s\p{Pd}${DOTS}])+`, 'gu')
/** Divisor of the share of characters that must be in groups of mixed form, for a short checksum to be proof. */
const ODD_SHARE = 8
// Group of mixed form: it has a digit, has a capital after a small letter, or is one letter that is no English word.
const ODD = /\d|[a-z][A-Z]|^[B-HJ-Zb-z]$/

/**
 * Groups joined without the characters between them, which may be one address. A candidate begins and ends with a
 * group, or at a common word glued to one. A long checksum is always proof. A short one is proof only where the text
 * looks like an address: an eighth of the characters in groups of mixed form, and few repeated characters.
 */
export function joinedRuns(text: string): readonly LetterRun[] {
  return text.split(NEITHER).flatMap((chain) => {
    const groups = chain.match(WORD) ?? []
    if (groups.length < 2) return []
    const joined = groups.join('')
    if (joined.length < CHARS_MIN) return []
    const edges = new Uint8Array(joined.length + 1)
    const odd = new Uint16Array(joined.length + 1)
    edges[0] = 1
    let at = 0
    for (const group of groups) {
      const isOdd = ODD.test(group)
      for (const end = at + group.length; at < end; at++) odd[at + 1] = (odd[at] ?? 0) + (isOdd ? 1 : 0)
      edges[at] = 1
      for (const edge of gluedEdges(group)) edges[at - group.length + edge] = 1
    }
    const trusts = (from: number, to: number) =>
      ((odd[to] ?? 0) - (odd[from] ?? 0)) * ODD_SHARE >= to - from && isEven(joined.slice(from, to))
    return [{ text: joined, edges, glued: [], fit: 'joined', trusts }]
  })
}

/**
 * Copies of the text without the characters between groups. Hyphens, underscores and plus signs may belong to base64.
 * One copy keeps them all, one keeps none, and one for each kind leaves that kind out.
 */
export function joinedBase64(text: string): readonly string[] {
  const close = text.replace(JOINT_64, '')
  const without = ['-', '_', '+'].map((joint) => close.replaceAll(joint, ''))
  return [...new Set([close, ...without, close.replaceAll(/[-_+]/g, '')])]
}

/** Place of an underscore in the bech32 prefix of some networks, such as `addr_test` and `account_rdx`. */
const PREFIX_UNDERSCORE = /(?<=[a-z]{4})(?=(?:test|rdx)1)/gi

/**
 * Copies of the text without the characters between groups. An underscore may belong to the prefix of bech32. One copy
 * keeps underscores, one has none, and one has them only where some networks put one.
 */
export function joinedBech32(text: string): readonly string[] {
  // The separator of bech32.
  if (!text.includes('1')) return []
  const close = text.replaceAll(NO_UNDERSCORE_JOINT, '')
  const without = close.replaceAll('_', '')
  return [...new Set([close, without, without.replaceAll(PREFIX_UNDERSCORE, '_')])]
}
