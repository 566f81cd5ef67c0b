/** Words that people write directly before or after an address, without a blank. */
const WORDS = wordsOf(
  'address|addr|wallet|account|acct|payout|paid|pay|sent|send|to|from|for|by|at|is|my|the|winner|prize|player|user|owner|solana|sol|usdc|usdt|token|mint|and|or|btc|eth|ton|xrp|ada|xmr|thanks|thx|please|pls|now|here|won|wins|got|has',
)
const FIRST_PAIRS: ReadonlySet<number> = new Set(Array.from(WORDS, (word) => pairAt(word, 0)))
const LAST_PAIRS: ReadonlySet<number> = new Set(Array.from(WORDS, (word) => pairAt(word, word.length - 2)))
/** Characters of the shortest and of the longest word. */
const CHARS_MIN = 2
const CHARS_MAX = 7
/** Most words that are split off at one end. */
const WORDS_MAX = 3
/** IPFS content identifier: 34 bytes that begin with 0x12 and 0x20. It is no address with a word glued to it. */
const CONTENT_ID = /^Qm[N-Za-f][1-9A-HJ-NP-Za-km-z]{43}$/

/**
 * Positions in a word at which a word glued to an address may end or begin. Every split counts: "token" may be a word,
 * or "to" before an address that begins with "ken".
 */
export function gluedEdges(word: string): readonly number[] {
  if (word.length <= CHARS_MIN || CONTENT_ID.test(word)) return []
  return [...edgesFrom(0, 1, word), ...edgesFrom(word.length, -1, word)]
}

/** Positions that up to `WORDS_MAX` words reach from one end, forward (1) or backward (-1). */
function edgesFrom(end: number, step: 1 | -1, text: string): readonly number[] {
  const edges: number[] = []
  let reached = [end]
  for (let count = 0; count < WORDS_MAX; count++) {
    reached = reached.flatMap((at) => nextEdges(at, step, text))
    edges.push(...reached)
  }
  return edges
}

function nextEdges(at: number, step: 1 | -1, text: string): number[] {
  // Skips most words of a text early, which makes the search of a title a quarter faster.
  const isLikely = step === 1 ? FIRST_PAIRS.has(pairAt(text, at)) : LAST_PAIRS.has(pairAt(text, at - 2))
  if (!isLikely) return []
  const edges: number[] = []
  for (let chars = CHARS_MIN; chars <= CHARS_MAX; chars++) {
    const to = at + step * chars
    if (to < 0 || to > text.length) break
    if (WORDS.has(text.slice(Math.min(at, to), Math.max(at, to)))) edges.push(to)
  }
  return edges
}

/** The two characters at a position as one number. */
function pairAt(text: string, at: number): number {
  return text.charCodeAt(at) * 128 + text.charCodeAt(at + 1)
}

/** Each word in small letters, with a first capital, and in capitals. */
function wordsOf(list: string): ReadonlySet<string> {
  return new Set(
    list
      .split('|')
      .flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()]),
  )
}
