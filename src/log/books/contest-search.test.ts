import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { contestSteps, naiveSearch, publishContests, TITLE_WORDS } from '../../../test/story/contest-story.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { contestWire } from '../../project/answers/contests.ts'
import { searchWords } from '../../project/answers/contest-words.ts'
import type { Books, ContestSearch } from '../../project/fold/books.ts'
import { billionths } from '../../protocol/amount.ts'
import type { ContestWire } from '../../protocol/resources.ts'
import { CONTEST_SORTS, CONTEST_STATUSES } from '../../protocol/resources.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import { openForReading, storePath } from '../store/store.ts'
import { amountKey } from './amount-key.ts'
import { openContestSearch } from './contest-search.ts'
import { openPrefixReader } from './prefix-reader.ts'
import { openBooks } from './stored-books.ts'

const searches = fc.record({
  q: fc
    .array(fc.constantFrom(...TITLE_WORDS, 'c', 's', '1', '東', 'o', 'absent'), { maxLength: 3 })
    .map((words) => words.join(' ')),
  statuses: fc.option(fc.uniqueArray(fc.constantFrom(...CONTEST_STATUSES), { minLength: 1 })),
  sort: fc.constantFrom(...CONTEST_SORTS),
  limit: fc.integer({ min: 1, max: 12 }),
  examinedMax: fc.integer({ min: 1, max: 30 }),
})

type Find = (search: ContestSearch, examinedMax: number) => ReturnType<Books['findContests']>

/** Reads the store as a serving thread does. `find` has another bound on the contests that a search examines. */
function reading(path: string, work: (books: Books, find: Find) => void): void {
  const db = openForReading(storePath(path))
  const books = openBooks(db, openPrefixReader(db))()
  work(books, (search, examinedMax) => openContestSearch(db, books.contest, examinedMax)(search, books.head))
  db.close()
}

const idsOf = (contests: readonly ContestWire[]): readonly number[] => contests.map(({ id }) => id)

suite('a search for contests in the store', () => {
  test('equals a naive filter, for random titles, orders, statuses and commits', () => {
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
      { numRuns: 30 },
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
            const read: number[] = []
            let after: ContestSearch['after'] = null
            do {
              const page = find({ ...search, words: searchWords(q), after }, examinedMax)
              assert.ok(page.contests.length <= search.limit)
              read.push(...idsOf(page.contests))
              after = page.next
            } while (after !== null)
            assert.deepEqual(read, naiveSearch(known, q, search))
          }
        })
      }),
      { numRuns: 15 },
    )
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
