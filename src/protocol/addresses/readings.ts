import { decodeHTML } from 'entities/decode'
import { foldLookAlikes } from './look-alikes.ts'

/** Rounds in which encodings are undone at most. A URL inside a URL needs two. */
const ROUNDS_MAX = 6

const PLAIN = /^[\x20-\x24\x27-\x7e]*$/
const PERCENT_RUN = /(?:%[0-9a-f]{2})+/gi
const UTF8 = new TextDecoder()

/**
 * The text as programs and people may read it: as it is, and after each round of undoing percent-encoding and HTML
 * entities and of folding look-alike letters, until nothing changes. Without repetition; the last one is plain. Null for
 * a text that still changes after `ROUNDS_MAX` rounds.
 */
export function readingsOf(text: string): readonly string[] | null {
  if (PLAIN.test(text)) return [text]
  const readings = new Set([text])
  let last = text
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    const decoded = decodeHTML(last.replace(PERCENT_RUN, percentDecoded))
    const folded = foldLookAlikes(decoded)
    if (folded === last) return [...readings]
    readings.add(decoded)
    // A set keeps the first place of what it has, and the last reading must be last.
    readings.delete(folded)
    readings.add(folded)
    last = folded
  }
  return null
}

function percentDecoded(run: string): string {
  const bytes = run
    .slice(1)
    .split('%')
    .map((digits) => Number.parseInt(digits, 16))
  return UTF8.decode(Uint8Array.from(bytes))
}
