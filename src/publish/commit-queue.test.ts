import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import {
  assertConsistent,
  linesOf,
  openPublishStage,
  receipts,
  trade,
} from '../../test/stage/publish-stage.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import { openAppender } from '../log/append.ts'
import { createStore, openForWriting, storePath } from '../log/store/store.ts'
import type { Draft } from '../protocol/draft.ts'
import type { Entry } from '../protocol/event.ts'
import { msOf } from '../protocol/moment.ts'
import type { Outcome } from './admission/outcome.ts'
import { commitLength, type CommitQueue, openCommitQueue } from './commit-queue.ts'
import { testSigner } from '../../test/story/signing.ts'
import { QUIET_QUEUE } from '../../test/commits/quiet-queue.ts'
import { openDirectory } from '../../test/story/store-run.ts'
import { tradeDraft } from '../../test/story/trade-draft.ts'
import { type CommitPath, openOwnPath, WRONG_CLOCK } from './commit-path.ts'
import { openHeldDrafts } from './held-drafts.ts'

/** Opens the queue of a store, at one moment and without a chain unless the settings say otherwise. */
function openQueueOf(
  db: DatabaseSync,
  settings: Partial<Parameters<typeof openCommitQueue>[0]>,
): CommitQueue {
  return openCommitQueue({
    ...QUIET_QUEUE,
    appender: openAppender(db, testSigner(db)),
    held: openHeldDrafts(db, false),
    balances: 'refuse',
    now: () => msOf(Date.UTC(2026, 9, 30)),
    ...settings,
  })
}

const PUBLISHERS = 16
const REQUESTS = 30
const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 12)

suite(`${PUBLISHERS} publishers of ${REQUESTS} requests each`, () => {
  test('make one log: contiguous, in the order of each publisher, with shared commits, without starvation', async () => {
    await using stage = await openPublishStage()
    const seqs = Array.from({ length: PUBLISHERS }, (): number[] => [])
    let whenFirstWasDone: readonly number[] = []
    await Promise.all(
      seqs.map(async (own, publisher) => {
        for (let number = 0; number < REQUESTS; number += 1) {
          const [receipt] = receipts(await stage.publish([trade(`${publisher}-${number}`, `${number + 1}`)]))
          assert.equal(receipt?.[1], 'published')
          own.push(receipt[2])
        }
        if (whenFirstWasDone.length === 0) whenFirstWasDone = seqs.map(({ length }) => length)
      }),
    )
    const all = PUBLISHERS * REQUESTS
    assert.deepEqual(
      seqs.flat().toSorted((a, b) => a - b),
      Array.from({ length: all }, (_, index) => index + 1),
    )
    for (const own of seqs)
      assert.deepEqual(
        own,
        own.toSorted((a, b) => a - b),
      )
    assert.ok(stage.committed.length < all / 2, `${stage.committed.length} commits for ${all} requests`)
    assert.equal(
      stage.committed.reduce((sum, { events }) => sum + events, 0),
      all,
    )
    assert.ok(
      Math.min(...whenFirstWasDone) >= REQUESTS / 2,
      `the slowest had ${Math.min(...whenFirstWasDone)}`,
    )
  })

  test('each with the same refs make each event once, and all answers have its seq', async () => {
    await using stage = await openPublishStage()
    const seqs = new Map<string, Set<number>>()
    let published = 0
    await Promise.all(
      Array.from({ length: PUBLISHERS }, async (_, publisher) => {
        for (let number = 0; number < 15; number += 1) {
          const drafts = [0, 1, 2].map((step) => trade(`${(number * 7 + step * (publisher + 1)) % 50}`))
          for (const [ref, status, seq] of receipts(await stage.publish(drafts))) {
            seqs.set(ref, (seqs.get(ref) ?? new Set()).add(seq))
            if (status === 'published') published += 1
          }
        }
      }),
    )
    assert.equal(published, 50)
    assert.equal(stage.lines().length, 50)
    for (const [ref, answered] of seqs) assert.equal(answered.size, 1, `ref ${ref}`)
  })
})

/** A request of a random run, and whether it arrives together with the next. */
type SentRequest = Readonly<{ drafts: readonly Draft[]; waits: boolean }>

/** Divides a random log into requests. Some of them must be refused. */
function requestsOf(entries: readonly Entry[], sizes: readonly number[]): readonly SentRequest[] {
  const requests: SentRequest[] = []
  let at = 0
  for (let index = 0; at < entries.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1
    const drafts = entries
      .slice(at, at + (size % 7) + 1)
      .map((entry, place) => draftOf(entry, `${at + place}`))
    const first = drafts[0]
    const conflict = first === undefined ? [] : [{ ...first, kind: 'another' }]
    requests.push({ drafts: size % 5 === 0 ? [...drafts, ...conflict] : drafts, waits: size % 3 === 0 })
    at += drafts.length
  }
  return requests
}

function draftOf({ event, details }: Entry, ref: string): Draft {
  const { type, kind, contestId, kots, tx } = event
  return { ref, atMs: null, type, kind, contestId, kots, tx, details }
}

async function sendAll(queue: CommitQueue, requests: readonly SentRequest[]): Promise<readonly Outcome[]> {
  const outcomes: Promise<Outcome>[] = []
  for (const { drafts, waits } of requests) {
    const outcome = queue.submit(drafts)
    outcomes.push(outcome)
    if (waits) await outcome
  }
  return Promise.all(outcomes)
}

suite('a full store', () => {
  test('publishes nothing of a refused request, and resumes when there is room', async () => {
    let fulls = 0
    let commitsRefused = 0
    let stored = 0
    await fc.assert(
      fc.asyncProperty(
        randomLogs,
        fc.array(fc.nat(20), { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 0, max: 12 }),
        async (entries, sizes, pages) => {
          const directory = mkdtempSync(join(tmpdir(), 'daybook-full-'))
          const path = storePath(directory)
          createStore(path, { origin: 'daybook.test/full', chain: 'opaque', simulated: false })
          const db = openForWriting(path)
          try {
            let nowMs = Date.UTC(2026, 9, 30)
            const queue = openQueueOf(db, {
              balances: 'report',
              now: () => msOf((nowMs += 3_600_000)),
              onFull: () => (commitsRefused += 1),
            })
            const present = Number(db.prepare('PRAGMA page_count').get()?.['page_count'])
            db.exec(`PRAGMA max_page_count = ${present + pages}`)
            const requests = requestsOf(entries, sizes)
            const outcomes = await sendAll(queue, requests)
            const full = outcomes.filter((outcome) => !outcome.ok && outcome.code === 'store-full').length
            const receiptsNow = outcomes.flatMap((outcome) => (outcome.ok ? outcome.receipts : []))
            const seqs = receiptsNow.filter(({ status }) => status === 'published').length
            assert.equal(linesOf(path).length, seqs, 'only what was acknowledged is there')
            assertConsistent(path)
            assert.equal(commitsRefused > 0, full > 0, 'a full disk is reported')
            commitsRefused = 0
            fulls += full
            db.exec('PRAGMA max_page_count = 1000000')
            const again = await sendAll(queue, requests)
            const isRefused = (outcome: Outcome): boolean => !outcome.ok && outcome.code.startsWith('store-')
            assert.ok(!again.some(isRefused))
            const before = new Map(receiptsNow.map(({ ref, seq }) => [ref, seq]))
            for (const { ref, seq } of again.flatMap((outcome) => (outcome.ok ? outcome.receipts : []))) {
              assert.equal(seq, before.get(ref) ?? seq, 'what was acknowledged keeps its seq')
            }
            stored += assertConsistent(path)
          } finally {
            db.close()
            rmSync(directory, { recursive: true })
          }
        },
      ),
      { numRuns: RUNS, seed: 20_261_121 },
    )
    assert.ok(fulls > RUNS / 2, `${fulls} requests met a full store`)
    assert.ok(stored > 5 * RUNS, `${stored} events were stored`)
  })
})

suite('a commit', () => {
  test('lasts from the arrival of its first request until it is on the disk', async () => {
    using directory = openDirectory()
    const path = storePath(directory.path)
    using db = openForWriting(path)
    let ms = 0
    const lasted: number[] = []
    const queue = openQueueOf(db, {
      monotonicMs: () => ms,
      onDurable: () => (ms += 5),
      onCommit: (committed) => lasted.push(committed.ms),
    })
    const first = queue.submit([tradeDraft('a')])
    ms += 30
    await Promise.all([first, queue.submit([tradeDraft('b')])])
    await queue.submit([tradeDraft('c')])
    assert.deepEqual(lasted, [35, 5])
  })

  test('tells how many drafts it only holds, or how many events it publishes', async () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    const told: string[] = []
    const queue = openQueueOf(db, {
      held: openHeldDrafts(db, true),
      onCommit: ({ seq, events, held, requests }) =>
        told.push(`up to ${seq}: ${events} events of ${requests} requests, ${held} held`),
      onHeld: ({ added, held, requests }) => told.push(`${added} more of ${requests} requests, ${held} held`),
    })
    const withTx = (ref: string): Draft => tradeDraft(ref, { tx: `transaction-${ref}` })
    await Promise.all([queue.submit(['a', 'b'].map(withTx)), queue.submit([withTx('c')])])
    await queue.submit(['d', 'e'].map(withTx))
    await queue.submit(['d', 'e'].map(withTx))
    await queue.submit([tradeDraft('f'), withTx('g')])
    assert.deepEqual(told, [
      '3 more of 2 requests, 3 held',
      '2 more of 1 requests, 5 held',
      'up to 1: 1 events of 1 requests, 6 held',
    ])
    await queue.close()
  })

  test('has one moment for the events of all its requests, also when a month ends meanwhile', async () => {
    using directory = openDirectory()
    const path = storePath(directory.path)
    using db = openForWriting(path)
    let nowMs = Date.UTC(2026, 9, 31, 23, 59)
    const commits: [events: number, atMs: number][] = []
    const queue = openQueueOf(db, {
      now: () => msOf((nowMs += 20_000)),
      onCommit: ({ events, atMs }) => commits.push([events, atMs]),
    })
    await Promise.all([
      queue.submit(['a', 'b', 'c', 'd'].map((ref) => tradeDraft(ref))),
      queue.submit(['e', 'f', 'g'].map((ref) => tradeDraft(ref))),
    ])
    await queue.submit([tradeDraft('h')])
    const moments = linesOf(path).map((line) => (JSON.parse(line) as { atMs: number }).atMs)
    assert.deepEqual(
      commits.map(([events]) => events),
      [7, 1],
    )
    assert.deepEqual(moments, [...Array(7).fill(commits[0]?.[1]), commits[1]?.[1]])
  })

  test('that is refused asks for one further commit a second, however many are refused', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    let [isClockRight, commits] = [true, 0]
    const queue = openQueueOf(db, {
      refusal: () => ((commits += 1) > 0 && isClockRight ? null : WRONG_CLOCK),
    })
    const { page_count: pages } = db.prepare('PRAGMA page_count').get() ?? {}
    db.exec(`PRAGMA max_page_count = ${String(pages)}`)
    const full = await queue.submit(Array.from({ length: 200 }, (_, index) => tradeDraft(`${index}`)))
    assert.ok(!full.ok && full.code === 'store-full')
    isClockRight = false
    for (let refused = 0; refused < 100; refused += 1) {
      assert.equal((await queue.submit([tradeDraft('a')])).ok, false)
      t.mock.timers.tick(5)
    }
    for (let ms = 0; ms < 4_000; ms += 5) {
      if (ms === 1_000) commits = 0
      t.mock.timers.tick(5)
      // A commit begins in the next turn of the event loop.
      await turn()
      await turn()
    }
    assert.equal(commits, 3)
  })
})

suite('the requests that wait for a commit', () => {
  /** Sizes of the requests of each commit. All requests arrive before the first one. */
  function commitsOf(sizes: readonly number[], requestsMax: number): readonly (readonly number[])[] {
    const waiting = sizes.map((size) => ({ size }))
    const commits: (readonly number[])[] = []
    while (waiting.length > 0)
      commits.push(waiting.splice(0, commitLength(waiting, requestsMax)).map(({ size }) => size))
    return commits
  }

  test('share it in their order as far as it has room, and the first is never left', () => {
    for (const [sizes, commits] of [
      [[], []],
      [[10], [[10]]],
      [
        [4, 6, 1],
        [[4, 6], [1]],
      ],
      [
        [4, 7, 1],
        [[4], [7, 1]],
      ],
      [
        [11, 1, 2],
        [[11], [1, 2]],
      ],
      [
        [10, 0, 1],
        [[10, 0], [1]],
      ],
    ] as const) {
      assert.deepEqual(commitsOf(sizes, 10), commits)
    }
    fc.assert(
      fc.property(fc.array(fc.nat(15)), (sizes) => {
        const commits = commitsOf(sizes, 10)
        assert.deepEqual(commits.flat(), sizes)
        for (const commit of commits)
          assert.ok(commit.length === 1 || commit.reduce((sum, size) => sum + size, 0) <= 10)
      }),
    )
  })

  test('are refused when one alone is larger than a request may be', async () => {
    using stage = openSharedStage({ requestMax: 1 })
    stage.path.isOpen = false
    const outcomes = [1, 2].map((drafts) =>
      stage.queue.submit(Array.from({ length: drafts }, (_, index) => tradeDraft(`${drafts}-${index}`))),
    )
    const [fits, larger] = await Promise.all(outcomes)
    assert.equal(fits?.ok, true)
    assert.ok(larger?.ok === false && larger.code === 'too-large')
  })
})

/** A queue on a path that says whether a transaction is open. */
function openSharedStage(limits: Partial<CommitPath> = {}) {
  const directory = openDirectory()
  const db = openForWriting(storePath(directory.path))
  const appender = openAppender(db, testSigner(db))
  const path = { isOpen: true }
  const queue = openCommitQueue({
    ...QUIET_QUEUE,
    appender,
    held: openHeldDrafts(db, true),
    path: { ...openOwnPath({ ...QUIET_QUEUE, appender }), isOpen: () => path.isOpen, ...limits },
    balances: 'refuse',
    now: () => msOf(0),
  })
  return {
    queue,
    path,
    [Symbol.dispose]() {
      db.close()
      directory[Symbol.dispose]()
    },
  }
}

suite('the readers of held drafts', () => {
  test('wait while a commit is open, also when messages of other nodes are applied meanwhile', async () => {
    using stage = openSharedStage()
    const { queue, path } = stage
    const read: string[] = []
    const readers = ['first', 'second'].map((name) => queue.held.quiet().then(() => read.push(name)))
    queue.changed('applied')
    await turn()
    assert.deepEqual(read, [])
    path.isOpen = false
    queue.changed('applied')
    await Promise.all(readers)
    assert.deepEqual(read, ['first', 'second'])
    await queue.held.quiet()
    await queue.close()
  })

  test('wait no longer than their signal says', async () => {
    using stage = openSharedStage()
    const { queue, path } = stage
    const stop = new AbortController()
    const reader = queue.held.quiet(stop.signal)
    const other = queue.held.quiet()
    stop.abort()
    await assert.rejects(reader, /was aborted/)
    await assert.rejects(queue.held.quiet(stop.signal), /was aborted/)
    path.isOpen = false
    queue.changed('undone')
    await other
    await queue.held.quiet(stop.signal)
    await queue.close()
  })

  test('hold nothing of a signal after their wait', async () => {
    using stage = openSharedStage()
    const { queue, path } = stage
    const { signal } = new AbortController()
    const readers = Array.from({ length: 3 }, () => queue.held.quiet(signal))
    assert.equal(getEventListeners(signal, 'abort').length, 3)
    path.isOpen = false
    queue.changed('committed')
    await Promise.all(readers)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    await queue.close()
  })
})
