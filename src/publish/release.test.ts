import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { QUIET_QUEUE } from '../../test/commits/quiet-queue.ts'
import { testSigner } from '../../test/story/signing.ts'
import { openDirectory } from '../../test/story/store-run.ts'
import { tradeDraft } from '../../test/story/trade-draft.ts'
import { type Appender, openAppender } from '../log/append.ts'
import { openForWriting, storePath } from '../log/store/store.ts'
import { monthOf, msOf } from '../protocol/moment.ts'
import { type CommitQueue, openCommitQueue } from './commit-queue.ts'
import { type CommitPath, openOwnPath } from './commit-path.ts'
import { openHeldDrafts } from './held-drafts.ts'

const REFS = ['a', 'b', 'c', 'd', 'e']
const txOf = (ref: string): string => `transaction-${ref}`
const finals = (refs: readonly string[]) =>
  refs.map((ref) => ({ tx: txOf(ref), is: 'final', place: 'slot 1' }) as const)
const UNKNOWN = { ok: false, code: 'outcome-unknown', field: null, reason: '' } as const

/** Runs a commit on a path of the tests. `embedded` commits to the store. */
type CommitOf = (stage: Stage, embedded: CommitPath) => CommitPath['commit']

type Stage = Disposable &
  Readonly<{
    appender: Appender
    /** Seqs of the events by ref. */
    seqs(refs: readonly string[]): readonly (number | undefined)[]
    /** Opens a queue whose commits run as `commitOf` says, and publish so many drafts at most. */
    open(commitOf: CommitOf, eventsMax?: number): CommitQueue
    commits: readonly string[]
  }>

/** Opens a store for several queues, one after another. */
function openStage(): Stage {
  const directory = openDirectory()
  const db = openForWriting(storePath(directory.path))
  const appender = openAppender(db, testSigner(db))
  const embedded = openOwnPath({ ...QUIET_QUEUE, appender })
  const commits: string[] = []
  const stage: Stage = {
    appender,
    commits,
    seqs: (refs) => refs.map((ref) => appender.published(ref)?.seq),
    open(commitOf, eventsMax = Number.POSITIVE_INFINITY) {
      const commit = commitOf(stage, embedded)
      let begun = 0
      return openCommitQueue({
        ...QUIET_QUEUE,
        appender,
        held: openHeldDrafts(db, true),
        path: {
          ...embedded,
          commit(drafts, build) {
            begun = appender.head().seq
            return commit(drafts, build)
          },
          hasRoom: () => appender.head().seq < begun + eventsMax,
        },
        balances: 'refuse',
        now: () => msOf(0),
        onCommit: ({ events, held }) => commits.push(`${events} published, ${held} held`),
      })
    },
    [Symbol.dispose]() {
      db.close()
      directory[Symbol.dispose]()
    },
  }
  return stage
}

const toStore: CommitOf = (_, embedded) => embedded.commit

/** Lets commits end that follow one another by themselves. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
}

suite('a release', () => {
  test('leaves the drafts for which its commit has no room to the next ones, in order of acceptance', async () => {
    using stage = openStage()
    const queue = stage.open(toStore, 2)
    await queue.submit(REFS.map((ref) => tradeDraft(ref, { tx: txOf(ref) })))
    await queue.held.settle(finals(REFS.toReversed()), 'chain')
    await turns()
    assert.deepEqual(stage.commits, ['2 published, 3 held', '2 published, 1 held', '1 published, 0 held'])
    assert.deepEqual(stage.seqs(REFS), [1, 2, 3, 4, 5])
    await queue.close()
  })

  test('goes on after a commit that was given up, and that the log has all the same', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    using stage = openStage()
    let isGivenUp = false
    const commitOf: CommitOf =
      ({ appender }, embedded) =>
      async (drafts, build) => {
        if (!isGivenUp) return await embedded.commit(drafts, build)
        isGivenUp = false
        appender.begin()
        build()
        appender.commit()
        return UNKNOWN
      }
    const queue = stage.open(commitOf, 2)
    await queue.submit(REFS.map((ref) => tradeDraft(ref, { tx: txOf(ref) })))
    isGivenUp = true
    assert.equal(await queue.held.settle(finals(REFS), 'chain'), UNKNOWN)
    assert.deepEqual(stage.seqs(REFS), [1, 2, undefined, undefined, undefined])
    context.mock.timers.tick(1_000)
    await turns()
    assert.deepEqual(stage.seqs(REFS), [1, 2, 3, 4, 5])
    await queue.close()
  })

  test('publishes again what a commit had taken over from the one before, and that was undone', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    using stage = openStage()
    let undone = 0
    const commitOf: CommitOf =
      ({ appender, commits }, embedded) =>
      async (drafts, build) => {
        if (commits.length !== 1 || undone > 0) return await embedded.commit(drafts, build)
        undone += 1
        appender.begin()
        build()
        appender.rollback()
        return UNKNOWN
      }
    const queue = stage.open(commitOf, 2)
    await queue.submit(REFS.slice(0, 3).map((ref) => tradeDraft(ref, { tx: txOf(ref) })))
    await queue.held.settle(finals(REFS.slice(0, 3)), 'chain')
    await turns()
    assert.equal(undone, 1)
    assert.deepEqual(stage.seqs(REFS.slice(0, 3)), [1, 2, undefined])
    context.mock.timers.tick(1_000)
    await turns()
    assert.deepEqual(stage.seqs(REFS.slice(0, 3)), [1, 2, 3])
    await queue.close()
  })

  test('asks all drafts when the node began to lead during a commit that was undone', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    using stage = openStage()
    const former = stage.open(toStore, 0)
    await former.submit(REFS.map((ref) => tradeDraft(ref, { tx: txOf(ref) })))
    await former.held.settle(finals(REFS), 'chain')
    await former.close()

    const undos: (() => void)[] = []
    const commitOf: CommitOf =
      ({ appender }, embedded) =>
      async (drafts, build) => {
        if (undos.length > 0) return await embedded.commit(drafts, build)
        appender.begin()
        build()
        await new Promise<void>((resolve) => undos.push(resolve))
        appender.rollback()
        return UNKNOWN
      }
    const queue = stage.open(commitOf)
    const trade = queue.submit([tradeDraft('trade')])
    await turns()
    assert.deepEqual(stage.seqs(['trade', ...REFS]), [1, 2, 3, 4, 5, 6])
    // The open commit has published them: no draft is held at this moment.
    queue.lead()
    undos[0]?.()
    assert.equal(await trade, UNKNOWN)
    context.mock.timers.tick(1_000)
    await turns()
    assert.deepEqual(stage.seqs(['trade', ...REFS]), [undefined, 1, 2, 3, 4, 5])
    await queue.close()
  })

  test('ends with a commit that changes nothing, while the books refuse a draft', async () => {
    using stage = openStage()
    let [changes, commits] = [true, 0]
    const commitOf: CommitOf =
      ({ appender }, embedded) =>
      async (drafts, build) => {
        commits += 1
        if (changes) return await embedded.commit(drafts, build)
        appender.begin()
        const built = build()
        appender.rollback()
        queue.changed('undone')
        return { ok: true, built }
      }
    const queue = stage.open(commitOf)
    const payout = { type: 'payout', kind: 'loyalty', details: { month: monthOf(msOf(0)) } } as const
    await queue.submit([
      tradeDraft('deposit', { type: 'treasury', kind: 'deposit' }),
      tradeDraft('points', { type: 'loyalty', kind: 'accrual' }),
      ...['a', 'b'].map((ref) => tradeDraft(ref, { ...payout, tx: txOf(ref) })),
    ])
    const settled = await queue.held.settle(finals(['a', 'b']), 'chain')
    assert.deepEqual(settled, { ok: true, published: 1, failed: 0, refused: 1 })
    await turns()
    changes = false
    commits = 0
    await queue.held.release([])
    await turns()
    assert.equal(commits, 1)
    await queue.close()
  })
})
