import type { Entry } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Books } from '../../project/fold/books.ts'
import { difference } from '../reading/difference.ts'
import { type Finding, findingOf, WrongError } from '../reading/finding.ts'
import { isJsonObject } from '../reading/json-values.ts'
import { type FigureCheck, type PublishedAnswer, publishedIn } from '../questions/question.ts'
import { openReplayBooks } from './replay-books.ts'

/** Result of one check: the number of answers recomputed, and the findings. */
type CheckResult = { answers: number; wrong: Finding[] }

/** Published answers that are recomputed while the log is read: each after the entry up to which it counts. */
export type RecomputedAnswers = Readonly<{
  /** Throws a `WrongError` when the entry cannot be posted. Nothing can be recomputed after it. */
  add(entry: Entry): void
  results: ReadonlyMap<FigureCheck, CheckResult>
  /** Answers that count events after the last entry added. */
  left(): readonly PublishedAnswer[]
}>

/** Opens the recomputation of answers in any order. Those that count no event are recomputed at once. */
export function openRecomputedAnswers(answers: readonly PublishedAnswer[]): RecomputedAnswers {
  const ahead = answers.toSorted((a, b) => b.seq - a.seq)
  const books = openReplayBooks(momentsOf(answers))
  const results = new Map<FigureCheck, CheckResult>()

  function recomputeAt(seq: number): void {
    let present: Books | undefined
    for (let next = ahead.at(-1); next !== undefined && next.seq <= seq; next = ahead.at(-1)) {
      ahead.pop()
      present ??= books.books()
      const result = results.get(next.check) ?? { answers: 0, wrong: [] }
      results.set(next.check, result)
      if (!next.statesEarlier) result.answers += 1
      const finding = findingIn(next, present)
      if (finding !== null) result.wrong.push(finding)
    }
  }

  recomputeAt(0)
  return {
    add(entry) {
      const { seq } = entry.event
      try {
        books.add(entry)
      } catch (cause) {
        throw new WrongError(`seq ${seq}`, 'cannot be posted to the books before it', { cause })
      }
      recomputeAt(seq)
    },
    results,
    left: () => ahead,
  }
}

function* momentsOf(answers: readonly PublishedAnswer[]): Generator<Ms> {
  for (const { moments } of answers) yield* moments
}

/** Difference between a published answer and the recomputed one; null when they agree. */
function findingIn(answer: PublishedAnswer, books: Books): Finding | null {
  const place = answer.path
  try {
    const published = publishedIn(answer)
    const recomputed = answer.recompute(books, published)
    if (!recomputed.ok) return { place, what: 'cannot be computed from the log' }
    const { value } = recomputed
    const isEarlier = answer.statesEarlier && isJsonObject(value)
    const field = difference(isEarlier ? { ...published, asOf: value['asOf'] } : published, value)
    if (field === null) return null
    return { place, what: `${field === '' ? 'the answer' : field} is not what the log says` }
  } catch (error) {
    return findingOf(error)
  }
}
