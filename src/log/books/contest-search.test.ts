import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  contestFilters,
  contestSteps,
  naiveSearch,
  publishContests,
  TITLE_WORDS,
} from '../../../test/story/contest-story.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { contestWire } from '../../project/answers/contests.ts'
import { searchWords } from '../../project/answers/contest-words.ts'
import type { Books, ContestSearch } from '../../project/fold/books.ts'
import { billionths } from '../../protocol/amount.ts'
import { CONTEST_SORTS } from '../../protocol/enumerations.ts'
import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import type { Row } from '../store/codec.ts'
import { openForReading, storePath } from '../store/store.ts'
import { amountKey } from './amount-key.ts'
import { contestOfRow } from './contest-rows.ts'
import { LIST_EVENTS } from './contest-list.ts'
import { openContestSearch } from './contest-search.ts'
import { openPrefixReader } from './prefix-reader.ts'
import { openBooks } from './stored-books.ts'
import { openContests } from './stored-repository.ts'

const wordSearches = fc.record({
  q: fc
    .array(fc.constantFrom(...TITLE_WORDS, 'c', 's', '1', '東', 'o', 'absent'), { maxLength: 3 })
    .map((words) => words.join(' ')),
  sort: fc.constantFrom(...CONTEST_SORTS),
  limit: fc.integer({ min: 1, max: 12 }),
  examinedMax: fc.integer({ min: 1, max: 30 }),
})
const searches = fc.tuple(wordSearches, contestFilters).map(([asked, filter]) => ({ ...asked, ...filter }))

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 4)

type Find = (search: ContestSearch, examinedMax: number) => ReturnType<Books['findContests']>

/** Reads the store as a serving thread does. `find` has another bound on the contests that a search examines. */
function reading(path: string, work: (books: Books, find: Find) => void): void {
  const db = openForReading(storePath(path))
  const books = openBooks(db, openPrefixReader(db))()
  const shownOf = (row: Row) => contestWire(contestOfRow(row))
  work(books, (search, examinedMax) =>
    openContestSearch(db, openContests(db), shownOf, examinedMax)(search, books.head),
  )
  db.close()
}

const idsOf = (contests: readonly ContestWire[]): readonly number[] => contests.map(({ id }) => id)

/** Ids of all contests that a search finds, page after page. */
function readAll(find: Find, search: Omit<ContestSearch, 'after'>, examinedMax: number): readonly number[] {
  const read: number[] = []
  let after: ContestSearch['after'] = null
  do {
    const page = find({ ...search, after }, examinedMax)
    assert.ok(page.contests.length <= search.limit)
    read.push(...idsOf(page.contests))
    after = page.next
  } while (after !== null)
  return read
}

/** Reads a store of contests with these titles, each scheduled by one event. */
function readingTitled(
  titles: readonly string[],
  work: (find: Find, known: ReturnType<typeof publishContests>) => void,
): void {
  using directory = openDirectory()
  const steps = titles.map((title) => ({ is: 'schedule', contest: 0, kots: 1n, title }) as const)
  const known = publishContests(directory.path, steps, titles.length)
  reading(directory.path, (_, find) => work(find, known))
}

suite('a search for contests in the store', () => {
  test('equals a naive filter, for random titles, orders, statuses, outcomes and commits', () => {
    const asked = fc.array(searches, { minLength: 5, maxLength: 20 })
    fc.assert(
      fc.property(contestSteps, asked, fc.integer({ min: 1, max: 300 }), (steps, questions, perCommit) => {
        using directory = openDirectory()
        const known = publishContests(directory.path, steps, perCommit)
        reading(directory.path, (books) => {
          for (const { q, examinedMax: _, ...search } of questions) {
            const wanted = naiveSearch(known, q, search)
            const { contests, next } = books.findContests({ ...search, words: searchWords(q), after: null })
            assert.deepEqual(idsOf(contests), wanted.slice(0, search.limit))
            assert.equal(next !== null, wanted.length > search.limit)
            for (const one of contests) {
              const stored = books.contest(contestIdOf(one.id))
              assert.deepEqual(one, contestWire(stored ?? assert.fail()))
            }
          }
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('examines a bounded number of contests for a page, and leads on to each match once', () => {
    const asked = fc.array(searches, { minLength: 5, maxLength: 10 })
    fc.assert(
      fc.property(contestSteps, asked, (steps, questions) => {
        using directory = openDirectory()
        const known = publishContests(directory.path, steps, 50)
        reading(directory.path, (_, find) => {
          for (const { q, examinedMax, ...search } of questions) {
            const read = readAll(find, { ...search, words: searchWords(q) }, examinedMax)
            assert.deepEqual(read, naiveSearch(known, q, search))
          }
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('leads past contests without a match to one among the last, also when others have changed since', () => {
    for (const contests of [LIST_EVENTS, LIST_EVENTS + 3]) {
      const titles = Array.from({ length: contests }, (_, index) => (index % 99 < 10 ? 'Night' : 'Cup'))
      readingTitled(titles, (find, known) => {
        for (const sort of CONTEST_SORTS) {
          for (const statuses of [null, ['upcoming'], ['paid', 'upcoming']] as const) {
            const search = { statuses, outcomes: null, sort, limit: 12, words: ['night'] }
            assert.deepEqual(readAll(find, search, 5), naiveSearch(known, 'night', search), sort)
          }
        }
      })
    }
  })

  test('examines as many contests for a page as it may, and fills each page without words', () => {
    const titles = Array.from({ length: LIST_EVENTS }, (_, index) => (index % 4 === 0 ? 'Night' : 'Cup'))
    readingTitled(titles, (find) => {
      for (const sort of CONTEST_SORTS) {
        for (const statuses of [null, ['upcoming']] as const) {
          const asked = { statuses, outcomes: null, sort, after: null }
          assert.equal(find({ ...asked, limit: 2, words: ['night'] }, 40).contests.length, 2, sort)
          assert.equal(find({ ...asked, limit: 12, words: [] }, 5).contests.length, 12, sort)
        }
      }
    })
  })
})

suite('the key of an amount', () => {
  test('sorts as the amount does', () => {
    const amounts = fc.oneof(fc.bigInt(-20n, 20n), fc.bigInt(-(10n ** 40n), 10n ** 40n))
    fc.assert(
      fc.property(amounts, amounts, (a, b) => {
        const [first, second] = [amountKey(billionths(a)), amountKey(billionths(b))]
        assert.equal(first < second, a < b)
        assert.equal(first === second, a === b)
      }),
      { numRuns: 2_000 },
    )
  })
})
