import { treeHasher } from '../tlog/hash.ts'
import type { Ms } from '../protocol/moment.ts'
import type { AskAllSettings, CollectedAnswers } from './ask-all.ts'
import { type Finding, findingOf, WrongError } from './reading/finding.ts'
import { entriesOf, type PublishedEntry } from './reading/month-entries.ts'
import type { Entry } from '../protocol/event.ts'
import { openReplayTree, type ReplayTree } from './replay/replay-tree.ts'
import type { Books } from '../project/fold/books.ts'
import { difference, isJsonObject } from './reading/json-values.ts'
import {
  checkOf,
  type FigureCheck,
  type PublishedAnswer,
  publishedIn,
  recomputeAnswer,
} from './figures/published-answer.ts'
import { openReplayBooks } from './replay/replay-books.ts'

/** Result of one pass through the log. */
export type ReadLog = Readonly<{
  tree: ReplayTree
  recomputed: RecomputedAnswers
  /** Fault that ended reading before the size of the checkpoint, or null. */
  broken: Finding | null
  /** First entry that cannot be posted, or null. No later entry is in any figure. */
  misfit: Finding | null
  /** Moment of the first event after the first `witnessedSize` events; null when there is none. */
  unwitnessed: Ms | null
}>

/** Reads the log up to the checkpoint, once. Each entry goes to the tree, the books, the samples and the transactions. */
export async function readLog(
  settings: AskAllSettings & Readonly<{ signal: AbortSignal }>,
  { served, months, figures, samples }: CollectedAnswers,
  { savedSizes, witnessedSize }: Readonly<{ savedSizes: readonly number[]; witnessedSize: number }>,
  transactions: Readonly<{ add(entry: Entry): void }> | null,
): Promise<ReadLog> {
  const { source, primitives, signal, onProgress } = settings
  const { size } = served.checkpoint
  const monthSizes = (months ?? []).flatMap(({ manifest }) => manifest?.size ?? [])
  const tree = openReplayTree(treeHasher(primitives.sha256), [
    ...savedSizes,
    ...monthSizes,
    samples.tree?.size ?? size,
    size,
  ])
  const recomputed = openRecomputedAnswers(figures.answers)
  let misfit: Finding | null = null
  let unwitnessed: Ms | null = null

  function take({ entry, leaf }: PublishedEntry): void {
    tree.add(leaf)
    samples.pass(entry.event, leaf)
    if (entry.event.seq === witnessedSize + 1) unwitnessed = entry.event.atMs
    if (misfit !== null) return
    try {
      recomputed.add(entry)
      transactions?.add(entry)
    } catch (error) {
      misfit = findingOf(error)
    }
  }

  try {
    for await (const entries of entriesOf(source, months ?? [], size, primitives)) {
      signal.throwIfAborted()
      for (const entry of entries) take(entry)
      onProgress('reading', tree.size(), size)
    }
    return { tree, recomputed, broken: null, misfit, unwitnessed }
  } catch (error) {
    signal.throwIfAborted()
    return { tree, recomputed, broken: findingOf(error), misfit, unwitnessed }
  }
}

/** Result of one check: the number of answers recomputed, and the findings. */
type CheckResult = { answers: number; wrong: Finding[] }

/** Published answers that are recomputed while the log is read, each after the last entry that it counts. */
type RecomputedAnswers = Readonly<{
  /** Throws a `WrongError` when the entry cannot be posted. Nothing can be recomputed after it. */
  add(entry: Entry): void
  results: ReadonlyMap<FigureCheck, CheckResult>
  /** Answers that count events after the last entry added. */
  left(): readonly PublishedAnswer[]
}>

/** Opens the recomputation of answers in any order. Recomputes answers that count no event immediately. */
function openRecomputedAnswers(answers: readonly PublishedAnswer[]): RecomputedAnswers {
  const ahead = answers.toSorted((a, b) => b.seq - a.seq)
  const books = openReplayBooks(answers.flatMap(({ moments }) => moments))
  const results = new Map<FigureCheck, CheckResult>()

  function recomputeAt(seq: number): void {
    let present: Books | undefined
    for (let next = ahead.at(-1); next !== undefined && next.seq <= seq; next = ahead.at(-1)) {
      ahead.pop()
      present ??= books.books()
      const result = results.get(checkOf(next.endpoint)) ?? { answers: 0, wrong: [] }
      results.set(checkOf(next.endpoint), result)
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

/** Difference between a published answer and the recomputed one; null when they agree. */
function findingIn(answer: PublishedAnswer, books: Books): Finding | null {
  const place = answer.path
  try {
    const published = publishedIn(answer)
    const recomputed = recomputeAnswer(answer, published, books)
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
