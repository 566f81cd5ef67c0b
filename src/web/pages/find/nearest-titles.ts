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
/** Letters of the longest word of a query with which a candidate has a word that begins so. */
const BEGINNING = 3

/**
 * Contests whose titles are most like a misspelt query, the best first. Candidates are the newest contests, and those with
 * a word that begins as the longest word of the query does: so the cost does not grow with the number of contests.
 */
export async function askNearestTitles(query: string, view: View): Promise<readonly NearestTitle[]> {
  const words = wordsOf(query)
  const [longest = ''] = words.toSorted((a, b) => b.length - a.length)
  const lists = [
    await ask(view, ''),
    await ask(view, `q=${encodeURIComponent(longest.slice(0, BEGINNING))}&`),
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
  const first = new Map(titles.toReversed().map(({ nearest }) => [nearest.title, nearest]))
  return titles
    .map(({ nearest }) => nearest)
    .filter((nearest) => first.get(nearest.title) === nearest)
    .slice(0, OFFERED_MAX)
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
