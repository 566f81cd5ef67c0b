import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openAppender } from '../../src/log/append.ts'
import { createStore, openForReading, openForWriting, storePath } from '../../src/log/store/store.ts'
import type { Entry } from '../../src/protocol/event.ts'
import { assertConsistent, linesOf } from '../stage/publish-stage.ts'
import { randomLogs } from '../story/random-log.ts'
import { testSigner } from '../story/signing.ts'
import { openCampaign } from '../torture/campaign.ts'
import { openFolder } from '../story/damaged-log.ts'

const CAMPAIGN = openCampaign('torn-log')
/** Cuts of the short log. A night cuts it at every byte. */
const CUTS = CAMPAIGN.size
/** States of the longer log of each kind. */
const STATES = Math.ceil(CUTS / 5)
/** Seed of the log. The campaign's seed would make one too short. */
const SEED = 20_261_121
const EVENTS_PER_COMMIT = 2
/** Events of the log that is cut at every byte. Its write-ahead log has some 125 KB. */
const SHORT_EVENTS = 8
/** States between two that are recomputed and continued. */
const STATES_PER_RECOMPUTE = 25

/** The files of a crashed store, and a digest of all tables after each commit, by head. */
type Written = Readonly<{
  db: Uint8Array
  wal: Uint8Array
  digests: ReadonlyMap<number, string>
  lines: readonly string[]
}>

/** Digest of every row of every table. Does not depend on pages. */
function digestOf(db: DatabaseSync): string {
  const hex = (_key: string, value: unknown): unknown =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
  const rows = tables.flatMap(({ name }) =>
    db
      .prepare(`SELECT * FROM "${String(name)}"`)
      .all()
      .map((row) => `${String(name)} ${JSON.stringify(row, hex)}`)
      .toSorted(),
  )
  return hash('sha256', rows.join('\n'))
}

/** Writes a log commit by commit, and reads its files while it is open, before any checkpoint. */
function write(folder: string, entries: readonly Entry[]): Written {
  const path = storePath(join(folder, 'whole'))
  createStore(path, { origin: 'daybook.test/torn', chain: 'opaque', simulated: false })
  const store = openForWriting(path)
  try {
    store.exec('PRAGMA wal_autocheckpoint = 0')
    const signer = testSigner(store)
    // The key is listed in a separate commit, which is not yet a state of the log.
    store.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const appender = openAppender(store, signer)
    const digests = new Map([[0, digestOf(store)]])
    for (let at = 0; at < entries.length; at += EVENTS_PER_COMMIT) {
      appender.begin()
      for (const { event, details } of entries.slice(at, at + EVENTS_PER_COMMIT)) {
        const named = { ref: `ref-${event.seq}`, digest: new Uint8Array(16) }
        appender.append({ ...event, details, ref: named.ref }, named, event.atMs)
      }
      appender.write()
      digests.set(appender.commit().seq, digestOf(store))
    }
    return { db: readFileSync(path), wal: readFileSync(`${path}-wal`), digests, lines: linesOf(path) }
  } finally {
    store.close()
  }
}

/** Opens the files of a crash and returns the head. Asserts that it is a whole commit and can be continued. */
function recover(folder: string, written: Written, wal: Uint8Array, goesOn: boolean): number {
  const path = join(folder, 'torn.db')
  writeFileSync(path, written.db)
  writeFileSync(`${path}-wal`, wal)
  try {
    const seq = readRecovered(path, written)
    if (goesOn) goOn(path, written, seq)
    return seq
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  }
}

function readRecovered(path: string, { digests }: Written): number {
  const db = openForReading(path)
  try {
    const seq = Number(db.prepare('SELECT coalesce(max(seq), 0) AS head FROM events').get()?.['head'])
    assert.equal(digestOf(db), digests.get(seq), `what is left up to ${seq} is what one commit left`)
    return seq
  } finally {
    db.close()
  }
}

function goOn(path: string, { lines }: Written, head: number): void {
  const db = openForWriting(path)
  const appender = openAppender(db, testSigner(db))
  const blank = { atMs: null, contestId: null, tx: null, details: null, kots: null }
  const named = { ref: 'another', digest: new Uint8Array(16) }
  appender.begin()
  appender.append({ ...blank, type: 'trade', kind: 'buy', ref: 'another' }, named, EVENT_AFTER)
  appender.write()
  assert.equal(appender.commit().seq, head + 1)
  db.close()
  assert.equal(assertConsistent(path), head + 1)
  assert.deepEqual(linesOf(path).slice(0, -1), lines.slice(0, head))
}

const longest = fc
  .sample(randomLogs, { numRuns: 30, seed: SEED })
  .reduce((long, log) => (log.length > long.length ? log : long))
const EVENT_AFTER = longest.at(-1)?.event.atMs ?? assert.fail('the log has events')

// The recovered log must be a prefix of whole commits in every table. Only the high-water mark outside the store can
// tell that a prefix is shorter than what was acknowledged.
suite('a write-ahead log', () => {
  const { random } = CAMPAIGN
  const counted = { states: 0, bytes: 0, heads: 0 }
  const damaged = (
    name: string,
    entries: readonly Entry[],
    damages: (wal: Uint8Array) => Iterable<Uint8Array>,
  ): Promise<void> =>
    test(
      `${name} leaves a prefix of the log, whole in every table`,
      { timeout: 60_000 + CUTS * 100 },
      (t) => {
        using folder = openFolder()
        const written = write(folder.path, entries)
        const heads = new Set<number>()
        let states = 0
        for (const wal of damages(written.wal)) {
          heads.add(recover(folder.path, written, wal, states % STATES_PER_RECOMPUTE === 0))
          states += 1
        }
        t.diagnostic(`${states} states of ${written.wal.length} bytes, ${heads.size} different heads`)
        counted.states += states
        counted.heads += heads.size
        const few = Math.min(entries.length / EVENTS_PER_COMMIT, states) / 2
        assert.ok(heads.size > few, `${heads.size} different heads`)
        assert.equal(recover(folder.path, written, written.wal, true), entries.length)
      },
    )

  damaged('cut at each byte', longest.slice(0, SHORT_EVENTS), function* (wal) {
    const cuts = Math.min(CUTS, wal.length)
    for (let cut = 0; cut < cuts; cut += 1) yield wal.subarray(0, Math.floor((wal.length * cut) / cuts))
    counted.bytes += cuts
  })
  damaged('of a longer log cut anywhere', longest, function* (wal) {
    for (let state = 0; state < STATES; state += 1) yield wal.subarray(0, random.below(wal.length))
  })
  damaged('with any bit of it flipped', longest, function* (wal) {
    for (let state = 0; state < STATES; state += 1) {
      const flipped = Uint8Array.from(wal)
      const at = random.below(wal.length)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
      yield flipped
    }
  })

  test('is damaged in as many ways as were asked for', (t) => {
    assert.ok(longest.length >= 50, 'the log is long enough')
    CAMPAIGN.finish(t, counted, {
      states: 2 * STATES + counted.bytes,
      bytes: Math.min(CUTS, 10_000),
      heads: Math.min(longest.length / EVENTS_PER_COMMIT, STATES),
    })
  })
})
