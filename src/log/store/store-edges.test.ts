import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { openMemoryLog } from '../../../test/story/memory-log.ts'
import { decodeInt128s, encodeInt128s } from '../../project/fold/tally.ts'
import { recompute } from '../../publish/recompute.ts'
import { billionths, negate, parsePrice } from '../../protocol/amount.ts'
import type { Details } from '../../protocol/details.ts'
import type { Entry } from '../../protocol/event.ts'
import { HOUR_MS, MINUTE_MS, msOf, QUARTER_MS, WEEK_MS } from '../../protocol/moment.ts'
import type { EventType } from '../../protocol/rules.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { assertSameBooks } from '../../../test/story/same-books.ts'
import { draftOf, openDirectory, reading, write } from '../../../test/story/store-run.ts'
import { openAppender } from '../append.ts'
import { createStore, openForWriting, readStoreIdentity, refusalOf, storePath } from './store.ts'
import { testSigner } from '../../../test/story/signing.ts'

type EntrySketch = readonly [atMs: number, name: string, kots?: bigint | undefined, details?: Details]

const MONDAY = Date.UTC(2026, 5, 1)
const closesAt = msOf(MONDAY + WEEK_MS)
const SCHEDULED: EntrySketch = [MONDAY, 'contest/scheduled', undefined, { opensAt: msOf(MONDAY), closesAt }]
const OF_CONTEST = new Set(['contest', 'play', 'pool', 'prize', 'hold', 'payout', 'expiry'])

/** Makes entries of contest 1. A correction copies the fields of the event that it cancels. */
function entriesOf(sketches: readonly EntrySketch[]): readonly Entry[] {
  const entries: Entry[] = []
  for (const [atMs, name, amount, details = null] of sketches) {
    const [type = '', kind = ''] = name.split('/')
    const corrected = details?.corrects === undefined ? undefined : entries[details.corrects - 1]?.event
    const kots =
      corrected === undefined || corrected.kots === null ? (amount ?? null) : negate(corrected.kots)
    const isOfContest = OF_CONTEST.has(corrected?.type ?? type)
    entries.push({
      event: {
        seq: seqOf(entries.length + 1),
        type: type as EventType,
        kind,
        atMs: msOf(atMs),
        contestId: isOfContest ? contestIdOf(1) : null,
        kots: kots === null ? null : billionths(kots),
        tx: type === 'payout' ? `transaction-${entries.length}` : null,
      },
      details,
    })
  }
  return entries
}

/**
 * Writes the entries in batches of each size, and with every second size opens the store again after each batch. Expects
 * the same books as in memory, and no difference from `recompute`.
 */
function assertSame(sketches: readonly EntrySketch[], batches: readonly number[] = [1_000_000, 1]): void {
  const entries = entriesOf(sketches)
  const memory = openMemoryLog()
  for (const entry of entries) memory.add(entry)
  for (const [index, events] of batches.entries()) {
    const reopens = index % 2 === 1
    using directory = openDirectory()
    const step = { noise: 2, keptNoise: 1, undo: 'rollback', aheadDays: 8, reopens } as const
    const pieces = [{ events, droppedBefore: 2 }]
    for (const _done of write(directory.path, entries, [{ ...step, pieces }], 'durable'));
    reading(directory.path, (reader) =>
      reader.snapshot(({ books }) => assertSameBooks(books, memory.books(), entries)),
    )
    const steps = recompute(storePath(directory.path), join(directory.path, 'scratch.db'))
    let count = steps.next()
    while (count.done !== true) count = steps.next()
    assert.deepEqual(count.value.differences, [])
  }
}

const correcting = (seq: number): Details => ({ corrects: seqOf(seq) })
const priced = (text: string): Details => {
  const price = parsePrice(text)
  assert.ok(price !== undefined)
  return { price }
}

suite('the store in edge cases', () => {
  test('counts a thousand events of one millisecond', () => {
    // Several rows of prefix totals have this one moment, in the middle of a minute.
    const atMs = MONDAY + 12_345
    const plays = Array.from({ length: 1000 }, (_, index): EntrySketch => [
      atMs,
      `play/kind_${index % 7}`,
      BigInt(index),
    ])
    assertSame(
      [SCHEDULED, [MONDAY, 'contest/opened'], ...plays, [atMs + 1, 'play/entry', 1n]],
      [1_000_000, 100],
    )
  })

  test('begins with an event at the edge of a minute, quarter, week or month, or a millisecond beside it', () => {
    for (const edge of [MONDAY, MONDAY + QUARTER_MS, Date.UTC(2026, 6, 1), Date.UTC(2026, 6, 1, 0, 1)]) {
      for (const shift of [-1, 0, 1]) {
        const first = edge + shift
        assertSame(
          [
            [first, 'contest/scheduled', undefined, { opensAt: msOf(first), closesAt }],
            [first, 'contest/opened'],
            [first, 'play/entry', 5n],
            [edge + 1, 'play/vote', 7n],
            [edge + QUARTER_MS, 'play/entry', 11n],
            [edge + WEEK_MS - 1, 'play/entry', 13n],
            [edge + WEEK_MS, 'burn/platform_income', 17n],
            [edge + 9 * WEEK_MS, 'play/boost', 19n],
          ],
          [shift === 0 ? 1 : 3],
        )
      }
    }
  })

  test('continues after years without an event', () => {
    assertSame([
      SCHEDULED,
      [MONDAY, 'contest/opened'],
      [MONDAY + HOUR_MS, 'play/entry', 3n],
      [MONDAY + 60 * WEEK_MS, 'play/vote', 5n],
      [MONDAY + 60 * WEEK_MS + MINUTE_MS, 'correction/play', undefined, correcting(3)],
      [MONDAY + 130 * WEEK_MS, 'play/entry', 7n],
    ])
  })

  test('sums past 2^64 and below zero, exactly', () => {
    const most = 10n ** 27n - 1n
    const deposits = Array.from({ length: 300 }, (_, index): EntrySketch => [
      MONDAY + index * MINUTE_MS,
      'treasury/deposit',
      most,
    ])
    const burns = Array.from({ length: 400 }, (_, index): EntrySketch => [
      MONDAY + WEEK_MS + index,
      'burn/platform_income',
      most,
    ])
    assertSame(
      [...deposits, ...burns, [MONDAY + 3 * WEEK_MS, 'price/usd', undefined, priced('0.000000000001')]],
      [64],
    )
    using directory = openDirectory()
    const pieces = [{ events: 50, droppedBefore: 0 }]
    const step = { noise: 0, keptNoise: 0, undo: 'drop', aheadDays: 0, reopens: false, pieces } as const
    for (const _done of write(directory.path, entriesOf([...deposits, ...burns]), [step], 'durable'));
    reading(directory.path, (reader) =>
      reader.snapshot(({ books }) => {
        assert.equal(books.totals().totals.figure('treasury'), -100n * most)
        assert.equal(books.totals().totals.figure('burned'), 400n * most)
        assert.equal(books.totalsBefore(msOf(MONDAY + WEEK_MS)).totals.figure('treasury'), 300n * most)
      }),
    )
  })

  test('keeps any integer of 128 bits and refuses one more', () => {
    const edges = [
      0n,
      1n,
      -1n,
      2n ** 63n - 1n,
      2n ** 63n,
      -(2n ** 63n),
      -(2n ** 63n) - 1n,
      2n ** 64n,
      -(2n ** 64n),
    ]
    const all = [...edges, 2n ** 64n - 1n, 10n ** 20n, 2n ** 127n - 1n, -(2n ** 127n)]
    assert.deepEqual(decodeInt128s(encodeInt128s(all)), all)
    assert.throws(() => encodeInt128s([2n ** 127n]), /does not fit 128 bits/)
    assert.throws(() => encodeInt128s([-(2n ** 127n) - 1n]), /does not fit 128 bits/)
  })

  test('restores an earlier price, however the corrections are divided into batches', () => {
    const at = (minute: number): number => MONDAY + minute * MINUTE_MS
    assertSame(
      [
        [at(0), 'price/usd', undefined, priced('1.000000000000')],
        [at(0), 'price/usd', undefined, priced('2.000000000000')],
        [at(1), 'price/usd', undefined, priced('3.000000000000')],
        [at(1), 'correction/price', undefined, correcting(2)],
        [at(1), 'correction/price', undefined, correcting(3)],
        [at(2), 'correction/price', undefined, correcting(1)],
        [at(3), 'price/usd', undefined, { ...priced('4.000000000000'), restates: seqOf(1) }],
        [at(3), 'correction/price', undefined, correcting(7)],
        [at(3) + 1, 'price/usd', undefined, priced('5.000000000000')],
      ],
      [9, 1, 2, 3],
    )
  })

  test('moves an overpaid amount from lot to lot, however the events are divided into batches', () => {
    const at = (minute: number): number => MONDAY + minute * MINUTE_MS
    assertSame(
      [
        SCHEDULED,
        [at(1), 'contest/opened'],
        [at(1), 'pool/sponsor', 1000n],
        [at(1), 'contest/closed'],
        [at(2), 'prize/winner', 100n, { unlocksAt: msOf(at(9)) }],
        [at(2), 'prize/winner', 50n],
        [at(3), 'payout/winner', 120n],
        [at(3), 'correction/prize', undefined, correcting(6)],
        [at(3), 'prize/winner', 10n],
        [at(4), 'hold/winner', undefined, { reviewUntil: msOf(at(20)) }],
        [at(4), 'payout/winner', 30n],
        [at(4), 'correction/payout', undefined, correcting(7)],
        [at(5), 'expiry/winner', 200n],
        [at(5), 'prize/winner', 500n],
        [at(5), 'correction/expiry', undefined, correcting(13)],
        [at(6), 'correction/prize', undefined, correcting(5)],
        [at(6), 'correction/payout', undefined, correcting(11)],
        [at(6), 'correction/prize', undefined, correcting(14)],
        [at(6), 'correction/prize', undefined, correcting(9)],
      ],
      [19, 1, 2, 5],
    )
  })

  test('returns all amounts of a payout, even if it took from one lot twice', () => {
    const log = openMemoryLog()
    const sketches: readonly EntrySketch[] = [
      SCHEDULED,
      [MONDAY, 'prize/winner', 100n, { unlocksAt: msOf(MONDAY + HOUR_MS) }],
      [MONDAY, 'prize/winner', 50n],
      [MONDAY, 'payout/winner', 120n],
      [MONDAY, 'correction/prize', undefined, correcting(3)],
      [MONDAY, 'correction/payout', undefined, correcting(4)],
    ]
    for (const entry of entriesOf(sketches)) log.add(entry)
    const open = log.books().unpaid({ contestIds: null, kinds: null, after: 0, limit: 10 })
    assert.deepEqual(
      open.map(({ first, unpaid }) => [first, unpaid]),
      [[2, 100n]],
    )
    assertSame(sketches, [6, 1])
  })

  test('knows a ref in its batch and after a commit, not after a drop', () => {
    using directory = openDirectory()
    const [entry] = entriesOf([[MONDAY, 'treasury/deposit', 1n]])
    assert.ok(entry !== undefined)
    const digest = new Uint8Array([1, 2])
    const db = openForWriting(storePath(directory.path))
    const appender = openAppender(db, testSigner(db))
    const append = (): unknown => appender.append(draftOf(entry), { ref: 'one', digest }, msOf(MONDAY))
    appender.begin()
    append()
    assert.equal(appender.published('one')?.seq, 1)
    appender.forget()
    assert.equal(appender.published('one'), undefined)
    append()
    appender.write()
    assert.equal(appender.published('one')?.seq, 1)
    appender.rollback()
    assert.equal(appender.published('one'), undefined)
    appender.begin()
    append()
    assert.throws(() => appender.commit(), /not written before the commit/)
    appender.write()
    appender.commit()
    assert.deepEqual(appender.published('one'), { seq: 1, digest })
    db.close()
    const again = openForWriting(storePath(directory.path))
    assert.deepEqual(openAppender(again, testSigner(again)).published('one'), { seq: 1, digest })
    again.close()
  })
})

suite('a store that a power cut left with a rollback journal', () => {
  test('is rolled back by its first reader, as after the first start of a restored backup', () => {
    using directory = openDirectory()
    const whole = storePath(join(directory.path, 'whole'))
    const cut = storePath(join(directory.path, 'cut'))
    createStore(whole, { origin: 'daybook.test/cut', chain: 'opaque', simulated: false })
    mkdirSync(dirname(cut))
    const { id } = readStoreIdentity(dirname(whole))
    using db = new DatabaseSync(whole)
    // Pages that leave the cache within a transaction make a journal that is durable.
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE')
    db.exec("UPDATE meta SET value = 'cut'; CREATE TABLE more AS SELECT * FROM sqlite_schema")
    for (const suffix of ['', '-journal']) copyFileSync(`${whole}${suffix}`, `${cut}${suffix}`)
    assert.ok(statSync(`${cut}-journal`).size > 512, 'the journal holds pages')
    assert.equal(readStoreIdentity(dirname(cut)).id, id)
    assert.equal(existsSync(`${cut}-journal`), false)
  })
})

test('a store of schema 13 can be upgraded, and one of schema 12 cannot', () => {
  using db = new DatabaseSync(':memory:')
  assert.match(refusalOf(db, 13), /run daybook upgrade --data DIR/)
  assert.match(refusalOf(db, 12), /import the drafts again/)
})
