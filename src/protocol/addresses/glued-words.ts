/** Words that people write directly before or after an address, without a blank. */
const BEFORE =
  'address|addr|wallet|account|acct|payout|paid|pay|sent|send|to|from|for|by|at|is|my|the|winner|prize|player|user|owner|solana|sol|usdc|usdt|token|mint|and|or|btc|eth|ton|xrp|ada|xmr'
const AFTER =
  'address|addr|wallet|account|payout|paid|sent|winner|prize|player|owner|solana|sol|usdc|usdt|token|mint|and|thanks|thx|please|pls|now|here|won|wins|got|has'

const cases = (words: string) =>
  `(?:${words}|${words.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())}|${words.toUpperCase()})`
const LEADING = new RegExp(`^${cases(BEFORE)}`)
const TRAILING = new RegExp(`${cases(AFTER)}$`)
/** Words that are split off at one end at most. */
const WORDS_MAX = 3
/** A content identifier of IPFS, which is no address with a word glued to it. */
const CONTENT_ID = /^Qm[1-9A-HJ-NP-Za-km-z]{44}$/

/** Positions in a word at which another word that is glued to an address may end or begin. */
export function gluedEdges(word: string): readonly number[] {
  if (CONTENT_ID.test(word)) return []
  const edges: number[] = []
  let from = 0
  for (let count = 0; count < WORDS_MAX; count++) {
    const length = LEADING.exec(word.slice(from))?.[0].length ?? 0
    if (length === 0) break
    edges.push((from += length))
  }
  let to = word.length
  for (let count = 0; count < WORDS_MAX; count++) {
    // No listed word is longer, and a pattern that is bound to an end alone would try every beginning.
    const length = TRAILING.exec(word.slice(Math.max(from, to - 8), to))?.[0].length ?? 0
    if (length === 0) break
    edges.push((to -= length))
  }
  return edges
}
