import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { naiveSearch, publishContests } from '../../../test/story/contest-story.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import type { Books } from '../../project/fold/books.ts'
import type { ContestStatus } from '../../protocol/enumerations.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import { openForReading, storePath } from '../store/store.ts'
import { openPrefixReader } from './prefix-reader.ts'
import { openBooks } from './stored-books.ts'

const step = { kots: 1n, title: '' } as const
/** Five contests are scheduled, the second and fourth begin, and the fourth ends. */
const STEPS = [
  ...[0, 1, 2, 3, 4].map((contest) => ({ ...step, is: 'schedule', contest }) as const),
  ...[1, 3, 3].map((contest) => ({ ...step, is: 'turn', contest }) as const),
]

suite('a page of contests of some statuses', () => {
  test('has the newest first, after any contest and of any length', () => {
    using directory = openDirectory()
    const known = publishContests(directory.path, STEPS, 3)
    using db = openForReading(storePath(directory.path))
    const { contests }: Books = openBooks(db, openPrefixReader(db))()
    const asked: readonly (readonly ContestStatus[] | null)[] = [
      null,
      ['upcoming'],
      ['running', 'upcoming'],
      ['upcoming', 'paying', 'running', 'upcoming'],
      ['paid'],
    ]
    for (const statuses of asked) {
      const wanted = naiveSearch(known, '', { statuses, sort: 'newest' })
      for (const limit of [1, 2, 5, 6]) {
        for (const after of [null, ...wanted]) {
          const from = after === null ? 0 : wanted.indexOf(after) + 1
          const page = contests({ statuses, after: after === null ? null : contestIdOf(after), limit })
          assert.deepEqual(
            page.map(({ id }) => id),
            wanted.slice(from, from + limit),
          )
        }
      }
      assert.deepEqual(contests({ statuses, after: contestIdOf(1), limit: 5 }), [], 'after no contest')
    }
  })
})
