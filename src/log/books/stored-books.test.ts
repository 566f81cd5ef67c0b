import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { naiveSearch, publishContests } from '../../../test/story/contest-story.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { contestWire } from '../../project/answers/contests.ts'
import type { Books, ContestFilter } from '../../project/fold/books.ts'
import { billionths } from '../../protocol/amount.ts'
import { msOf } from '../../protocol/moment.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import { openAppender } from '../append.ts'
import { openForReading, openForWriting, storePath } from '../store/store.ts'
import { openPrefixReader } from './prefix-reader.ts'
import { openBooks } from './stored-books.ts'

const step = { kots: 1n, title: '' } as const
/** Five contests are scheduled. The second begins, the fourth is paid and owes again, and the third is cancelled. */
const STEPS = [
  ...[0, 1, 2, 3, 4].map((contest) => ({ ...step, is: 'schedule', contest }) as const),
  ...[1, 3, 3, 3].map((contest) => ({ ...step, is: 'turn', contest }) as const),
  { ...step, is: 'cancel', contest: 2 } as const,
  { ...step, is: 'prize', contest: 3 } as const,
]

suite('a page of contests of some statuses and outcomes', () => {
  test('has the newest first, after any contest and of any length', () => {
    using directory = openDirectory()
    const known = publishContests(directory.path, STEPS, 3)
    using db = openForReading(storePath(directory.path))
    const { contests }: Books = openBooks(db, openPrefixReader(db))()
    const asked: readonly [statuses: ContestFilter['statuses'], outcomes?: ContestFilter['outcomes']][] = [
      [null],
      [['upcoming']],
      [['running', 'upcoming']],
      [['upcoming', 'paying', 'running', 'upcoming']],
      [['paid']],
      [null, ['cancelled']],
      [null, ['owing']],
      [null, ['paid', 'cancelled']],
      [['paying'], [null]],
      [['paid'], ['cancelled', 'lapsed', 'owing']],
    ]
    for (const [statuses, outcomes = null] of asked) {
      const filter = { statuses, outcomes }
      const wanted = naiveSearch(known, '', { ...filter, sort: 'newest' })
      for (const limit of [1, 2, 5, 6]) {
        for (const after of [null, ...wanted]) {
          const from = after === null ? 0 : wanted.indexOf(after) + 1
          const page = contests({ ...filter, after: after === null ? null : contestIdOf(after), limit })
          assert.deepEqual(
            page.map(({ id }) => id),
            wanted.slice(from, from + limit),
          )
        }
      }
      assert.deepEqual(contests({ ...filter, after: contestIdOf(1), limit: 5 }), [], 'after no contest')
    }
  })
  test('makes a contest again only after an event of it', () => {
    using directory = openDirectory()
    const [changed] = publishContests(directory.path, STEPS, 3)
    assert.ok(changed)
    using db = openForReading(storePath(directory.path))
    const booksOf = openBooks(db, openPrefixReader(db))
    const listed = () => booksOf().contests({ ...ALL, after: null, limit: 5 })
    const found = () =>
      booksOf().findContests({ ...ALL, words: [], sort: 'closesAt', after: null, limit: 5 }).contests
    const before = listed()
    assert.deepEqual(new Set(found()), new Set(before))
    assert.ok([...listed(), ...found()].every((contest) => before.includes(contest)))
    topUp(directory.path, changed.id)
    const after = listed()
    const kept = after.filter((contest) => before.includes(contest))
    assert.equal(kept.length, 4)
    assert.ok(kept.every(({ id }) => id !== changed.id))
    for (const contest of [...after, ...found()]) {
      const state = booksOf().contest(contestIdOf(contest.id))
      assert.ok(state)
      assert.deepEqual(contest, contestWire(state))
    }
  })
})

const ALL = { statuses: null, outcomes: null }

/** Publishes a top-up of a contest's pool. */
function topUp(path: string, id: number): void {
  using db = openForWriting(storePath(path))
  const appender = openAppender(db, testSigner(db))
  const kots = billionths(5n)
  const unset = { ref: null, atMs: null, tx: null, details: null }
  const at = msOf(700_000)
  appender.begin()
  appender.append({ ...unset, type: 'pool', kind: 'top_up', contestId: contestIdOf(id), kots }, null, at)
  appender.write()
  appender.commit()
}
