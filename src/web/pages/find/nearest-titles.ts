import { wordsOf } from '../../../project/answers/contest-words.ts'
import type { Contests } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** A contest with a similar title: its place in an answer of `/contests`, its number and its title. */
export type NearestTitle = Readonly<{
  list: LinkedAnswer<Contests>
  index: number
  id: number
  title: string
}>

/** Titles that are offered. */
const OFFERED_MAX = 3
/** Contests in one answer of the search. */
const CANDIDATES = 100
/** Words of a query whose beginnings are sought, the longest ones, and the fewest letters of a beginning. */
const SOUGHT_WORDS_MAX = 2
const BEGINNING_MIN = 3

/**
 * Contests whose titles are most like a misspelt query, the best first. Candidates are the newest contests, and those with
 * a word that begins as a word of the query does: so the cost does not grow with the number of contests.
 */
export async function askNearestTitles(query: string, view: View): Promise<readonly NearestTitle[]> {
  const words = wordsOf(query)
  const sought = words.toSorted((a, b) => b.length - a.length).slice(0, SOUGHT_WORDS_MAX)
  const lists = [
    await ask(view, ''),
    ...(await Promise.all(sought.map((word) => longestBeginning(view, word)))),
  ]
  const titles = lists
    .filter((list) => list !== null)
    .flatMap((list) =>
      list.answer.contests.flatMap(({ id, title }, index) => {
        const distance = title === null ? null : distanceOf(words, wordsOf(title))
        return title === null || distance === null ? [] : [{ distance, nearest: { list, index, id, title } }]
      }),
    )
    .toSorted((a, b) => a.distance - b.distance)
  return Map.groupBy(titles, ({ nearest }) => nearest.title)
    .values()
    .flatMap(([first]) => (first === undefined ? [] : [first.nearest]))
    .take(OFFERED_MAX)
    .toArray()
}

/** Contests with the longest beginning of a word that any title has. */
async function longestBeginning(view: View, word: string): Promise<LinkedAnswer<Contests> | null> {
  let found: LinkedAnswer<Contests> | null = null
  let [shortest, longest] = [BEGINNING_MIN, word.length - 1]
  // A shorter beginning finds all that a longer one finds.
  while (shortest <= longest) {
    const middle = Math.ceil((shortest + longest) / 2)
    const list = await ask(view, `q=${encodeURIComponent(word.slice(0, middle))}&`)
    if (list !== null && list.answer.contests.length > 0) {
      found = list
      shortest = middle + 1
    } else {
      longest = middle - 1
    }
  }
  return found
}

async function ask(view: View, query: string): Promise<LinkedAnswer<Contests> | null> {
  const reply = await view.ask('contests', { query: `${query}limit=${CANDIDATES}` })
  return reply.ok ? reply.value : null
}

/** Sum of the distances of the query's words from the nearest words of a title; null when one is near to none. */
function distanceOf(query: readonly string[], title: readonly string[]): number | null {
  let sum = 0
  for (const word of query) {
    const distances = title.map((other) => editDistance(word, other))
    const least = Math.min(...distances)
    // One mistake in a short word, two in a longer one.
    if (least > (word.length < 6 ? 1 : 2) || least >= word.length) return null
    sum += least
  }
  return query.length === 0 ? null : sum
}

/** Fewest letters to add, remove, change or exchange with the next one (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const [from, to] = [Array.from(a), Array.from(b)]
  let before: readonly number[] = []
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, letter] of from.entries()) {
    const next = [row + 1]
    for (const [column, other] of to.entries()) {
      const isSame = letter === other
      const costs = [
        (last[column + 1] ?? 0) + 1,
        (next[column] ?? 0) + 1,
        (last[column] ?? 0) + (isSame ? 0 : 1),
      ]
      if (letter === to[column - 1] && from[row - 1] === other) costs.push((before[column - 1] ?? 0) + 1)
      next.push(Math.min(...costs))
    }
    before = last
    last = next
  }
  return last.at(-1) ?? 0
}
