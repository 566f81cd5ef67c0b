import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { naiveWalk } from '../../../test/story/naive-walk.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import { openDirectory, reading, write, writerSteps } from '../../../test/story/store-run.ts'
import { type Entry, formatEvent } from '../../protocol/event.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { backupStore } from '../backup/backup.ts'
import type { Walk } from './reader.ts'
import { openForReading, openForWriting, storePath } from './store.ts'
import { lineEndOf, txKey } from './tx-index.ts'
import { openWalk } from '../walk.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 4)
const PLAINLY = { noise: 0, keptNoise: 0, undo: 'drop', aheadDays: 0, reopens: false } as const

/** The second is the end of the first, the third differs only in case, and no event names the last. */
const TXS = ['pay:transaction-1', 'transaction-1', 'Transaction-1', '9'.repeat(128), 'nobody-paid'] as const

/** Random logs in which several events of any type name the same transaction. */
const logs = fc
  .tuple(randomLogs, fc.infiniteStream(fc.constantFrom(null, null, ...TXS.slice(0, -1))))
  .map(([entries, named]): readonly Entry[] =>
    entries.map(({ event, details }) => ({ event: { ...event, tx: named.next().value ?? null }, details })),
  )

const walks = fc.record({
  filter: fc.record({
    types: fc.option(fc.subarray(['payout', 'play', 'correction', 'price'] as const), { nil: null }),
    kinds: fc.option(fc.subarray(['entry', 'winner', 'usd']), { nil: null }),
    contestIds: fc.option(fc.subarray([1, 2].map(contestIdOf)), { nil: null }),
    nonzero: fc.boolean(),
  }),
  tx: fc.constantFrom(...TXS),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  after: fc.nat(70),
  before: fc.nat(70),
  limit: fc.integer({ min: 1, max: 8 }),
  examineMax: fc.integer({ min: 1, max: 12 }),
})

function assertFinds(
  entries: readonly Entry[],
  asked: readonly Walk[],
  walk: ReturnType<typeof openWalk>,
): void {
  const events = entries.map(({ event }) => event)
  for (const query of asked) {
    const before = seqOf(Math.min(query.before, entries.length + 1))
    const stretch = { ...query, after: seqOf(Math.min(query.after, entries.length)), before }
    const { bytes, ...rest } = walk(stretch, 'ndjson')
    const lines = Buffer.from(bytes).toString().split('\n').slice(0, -1)
    assert.deepEqual({ ...rest, lines }, naiveWalk(events, stretch))
  }
}

function writeAll(directory: string, entries: readonly Entry[]): void {
  const pieces = [{ events: Math.max(1, entries.length), droppedBefore: 0 }]
  for (const _done of write(directory, entries, [{ ...PLAINLY, pieces }], 'durable'));
}

/** A walk with plain numbers as seqs. */
const minted = fc
  .array(walks, { minLength: 20, maxLength: 40 })
  .map((all) => all.map((walk): Walk => ({ ...walk, after: seqOf(walk.after), before: seqOf(walk.before) })))

suite('the index of transactions', () => {
  for (const mode of ['durable', 'bulk'] as const) {
    test(`finds the events that name a transaction, however the log was written (${mode})`, () => {
      fc.assert(
        fc.property(logs, writerSteps, minted, (entries, steps, asked) => {
          using directory = openDirectory()
          for (const done of write(directory.path, entries, steps, mode)) {
            // Dropped and rolled-back events are never found, committed ones at once.
            reading(directory.path, (reader) =>
              reader.snapshot(({ walk }) => assertFinds(entries.slice(0, done), asked, walk)),
            )
          }
        }),
        { numRuns: RUNS },
      )
    })
  }

  test('tells transactions with the same key apart', () => {
    fc.assert(
      fc.property(logs, minted, (entries, asked) => {
        using directory = openDirectory()
        writeAll(directory.path, entries)
        const db = openForWriting(storePath(directory.path))
        db.exec('UPDATE tx_events SET key = key % 2')
        assertFinds(
          entries,
          asked,
          openWalk(db, (tx) => txKey(tx) % 2),
        )
        db.close()
      }),
      { numRuns: RUNS },
    )
  })

  test('has one row for each event that names a transaction', () => {
    fc.assert(
      fc.property(logs, (entries) => {
        using directory = openDirectory()
        writeAll(directory.path, entries)
        const db = openForReading(storePath(directory.path))
        const rows = db.prepare('SELECT key, seq FROM tx_events ORDER BY seq').all()
        db.close()
        const expected = entries.flatMap(({ event: { tx, seq } }) =>
          tx === null ? [] : [{ key: txKey(tx), seq }],
        )
        assert.deepEqual(
          rows.map(({ key, seq }) => ({ key, seq })),
          expected,
        )
      }),
      { numRuns: RUNS },
    )
  })

  test('finds the same events in a restored copy', async () => {
    const [sample] = fc.sample(fc.tuple(logs, minted), { numRuns: 1, seed: 20261122 })
    assert.ok(sample !== undefined)
    const [entries, asked] = sample
    using directory = openDirectory()
    using restored = openDirectory()
    writeAll(directory.path, entries)
    rmSync(storePath(restored.path))
    await backupStore(storePath(directory.path), storePath(restored.path), () => undefined)
    reading(restored.path, (reader) => reader.snapshot(({ walk }) => assertFinds(entries, asked, walk)))
  })

  test('has keys of 48 bits of SHA-256, which a safe integer holds', () => {
    assert.equal(txKey('transaction-0001').toString(16).padStart(12, '0'), '6e1c404ef2fa')
    for (const tx of TXS) assert.ok(Number.isSafeInteger(txKey(tx)))
  })

  test('knows the end of the line of each event that names a transaction', () => {
    fc.assert(
      fc.property(logs, (entries) =>
        entries.every(({ event }) => event.tx === null || formatEvent(event).endsWith(lineEndOf(event.tx))),
      ),
      { numRuns: RUNS },
    )
  })
})
