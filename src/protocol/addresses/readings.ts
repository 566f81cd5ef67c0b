import { decodeHTML } from 'entities/decode'
import { foldLookAlikes, withoutInvisible } from './look-alikes.ts'

/** Most rounds of decoding. A URL inside a URL needs two. */
const ROUNDS_MAX = 6

const PLAIN = /^[\x20-\x24\x27-\x7e]*$/
const PERCENT_RUN = /(?:%[0-9a-f]{2})+/gi
const UTF8 = new TextDecoder()

/** Readings of a text as programs and people may read it. */
type Readings = Readonly<{
  /** The text as it is, and after each round of decoding and of folding look-alike letters. */
  every: readonly string[]
  /**
   * Readings that are also searched inside words and between groups: the text as it is, the last one, and one without
   * folding. Without folding, a word in another alphabet ends before an address that it touches.
   */
  outer: readonly string[]
  /** The last reading: fully decoded, and with Latin letters for all look-alikes. */
  last: string
}>

/**
 * Distinct readings of a text. Decodes percent-encoding and HTML entities and folds look-alike letters until nothing
 * changes. Null for a text that still changes after `ROUNDS_MAX` rounds.
 */
export function readingsOf(text: string): Readings | null {
  if (PLAIN.test(text)) return { every: [text], outer: [text], last: text }
  const every = new Set([text])
  let last = text
  let unfolded = text
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    const decoded = decodedOnce(last)
    const folded = foldLookAlikes(decoded)
    unfolded = withoutInvisible(decodedOnce(unfolded))
    if (folded === last) {
      const outer = new Set([text, unfolded, last])
      return { every: [...new Set([...every, ...outer])], outer: [...outer], last }
    }
    every.add(decoded).add(folded)
    last = folded
  }
  return null
}

function decodedOnce(text: string): string {
  return decodeHTML(text.replace(PERCENT_RUN, percentDecoded))
}

function percentDecoded(run: string): string {
  const bytes = run
    .slice(1)
    .split('%')
    .map((digits) => Number.parseInt(digits, 16))
  return UTF8.decode(Uint8Array.from(bytes))
}
