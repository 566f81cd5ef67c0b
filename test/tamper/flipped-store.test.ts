import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { defaultKeyFile, readKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { outsideReason } from '../../src/command/terminal/command-context.ts'
import { CommandError } from '../../src/command/terminal/command-error.ts'
import { openAppender } from '../../src/log/append.ts'
import { HIGH_WATER_FILE, markHighWater, readHighWater } from '../../src/log/store/high-water.ts'
import { newestCheckpoint } from '../../src/log/tree/ready-log.ts'
import { openForWriting, storePath } from '../../src/log/store/store.ts'
import {
  appendEvent,
  runCheck,
  copyLog,
  makeLog,
  openFolder,
  publishUpTo,
  refusalAtStart,
  SIGNING,
} from '../story/damaged-log.ts'
import { TEST_KEY, testSigner } from '../story/signing.ts'
import { openCampaign } from '../torture/campaign.ts'

const CAMPAIGN = openCampaign('flipped-store')
/** Damaged states of the store, and of the log without its end. */
const STATES = CAMPAIGN.size
const FIRST = [3, 10, 50, 120] as const
const EVENTS = 200
/** Counts of all tests of this file. */
const counted = { states: 0, found: 0, marks: 0, keysRefused: 0, cuts: 0 }

/** Rows of `meta` that nothing reads here: the signature of an empty log, and the least version for another schema. */
const UNREAD = ['empty_signature', 'needs']

/** Digest of every row of every table, except refs, which nothing published can verify. */
function digestOf(path: string): string {
  const db = new DatabaseSync(path)
  const plain = (_key: string, value: unknown): unknown =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'refs'").all()
    const rows = tables.flatMap(({ name }) =>
      db
        .prepare(`SELECT * FROM "${String(name)}"`)
        .all()
        .filter((row) => name !== 'meta' || !UNREAD.includes(String(row['key'])))
        .map((row) => `${String(name)} ${JSON.stringify(row, plain)}`),
    )
    return hash('sha256', rows.toSorted().join('\n'))
  } finally {
    db.close()
  }
}

/** The finding: none, or one line for the operator. An unexpected error is no finding. */
async function foundBy(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof CommandError) return error.message
    return outsideReason(error) ?? assert.fail(error instanceof Error ? error : String(error))
  }
}

suite('a store with any bit flipped', () => {
  test(
    'is found to be damaged by the check, or holds what it held',
    { timeout: 60_000 + STATES * 500 },
    async () => {
      using whole = openFolder()
      using copy = openFolder()
      makeLog(whole.data, [...FIRST, EVENTS])
      const bytes = readFileSync(storePath(whole.data))
      const digest = digestOf(storePath(whole.data))
      const broken: string[] = []
      for (let state = 0; state < STATES; state += 1) {
        rmSync(copy.data, { recursive: true, force: true })
        copyLog(whole.data, copy.data)
        const at = flipIn(storePath(copy.data), bytes)
        try {
          const fault = await foundBy(async () => {
            const { code, said } = await runCheck(copy.data)
            return code === 0 ? undefined : said
          })
          if (fault === undefined) assert.equal(digestOf(storePath(copy.data)), digest, 'damaged in silence')
          else counted.found += 1
          await foundBy(() => Promise.resolve(refusalAtStart(copy.data)))
        } catch (error) {
          broken.push(`byte ${at}: ${error instanceof Error ? error.stack : String(error)}`)
        }
      }
      assert.deepEqual(broken, [])
      counted.states = STATES
    },
  )
})

/** Writes a file's bytes with one of their bits flipped, and returns its place. */
function flipIn(path: string, bytes: Uint8Array): number {
  const at = CAMPAIGN.random.below(bytes.length)
  flipAt(path, bytes, at)
  return at
}

function flipAt(path: string, bytes: Uint8Array, at: number): void {
  const flipped = Uint8Array.from(bytes)
  flipped[at] = (flipped[at] ?? 0) ^ (1 << CAMPAIGN.random.below(8))
  writeFileSync(path, flipped)
}

suite('a high-water mark with any bit flipped', () => {
  test('says what it said, or what it said one commit before, and refuses an older store that lacks that', (t) => {
    using whole = openFolder()
    using older = openFolder()
    makeLog(whole.data, FIRST)
    copyLog(whole.data, older.data)
    const before = readHighWater(whole.data)
    publishUpTo(whole.data, [EVENTS])
    const newest = readHighWater(whole.data)
    assert.notDeepEqual(newest, before)
    const bytes = readFileSync(join(whole.data, HIGH_WATER_FILE))
    let behind = 0
    for (let state = 0; state < STATES; state += 1) {
      const at = flipIn(join(whole.data, HIGH_WATER_FILE), bytes)
      const mark = readHighWater(whole.data)
      const isBehind = at < bytes.length / 2
      assert.deepEqual(mark, isBehind ? before : newest, `byte ${at}`)
      assert.equal(refusalAtStart(whole.data), undefined, `byte ${at}, the whole log`)
      flipAt(join(older.data, HIGH_WATER_FILE), bytes, at)
      const refusal = refusalAtStart(older.data)
      if (isBehind) assert.equal(refusal, undefined, `byte ${at}, the log of one commit before`)
      else assert.match(refusal ?? '', /was published up to seq 200/, `byte ${at}`)
      if (isBehind) behind += 1
    }
    t.diagnostic(`${STATES} states, ${behind} of the newest place`)
    assert.ok(behind > STATES / 5 && behind < STATES * 0.8, `${behind} of the newest place`)
    counted.marks = STATES
  })
})

suite('a key with any bit flipped', () => {
  test('is refused, or is the same key', async () => {
    using whole = openFolder()
    makeLog(whole.data, FIRST)
    const key = defaultKeyFile(whole.data)
    const bytes = readFileSync(key)
    for (let state = 0; state < STATES; state += 1) {
      const at = flipIn(key, bytes)
      const refusal = await foundBy(async () => {
        const read = readKeyFile(key, { hasFileModes: true })
        if (Buffer.from(read.publicKey).equals(TEST_KEY.publicKey)) return undefined
        return refusalAtStart(whole.data, { ...SIGNING, keys: [read] })
      })
      if (refusal !== undefined) counted.keysRefused += 1
      else {
        const read = readKeyFile(key, { hasFileModes: true })
        assert.ok(Buffer.from(read.publicKey).equals(TEST_KEY.publicKey), `byte ${at}`)
      }
    }
  })
})

suite('a write-ahead log that lost its end', () => {
  test('is refused when published events are missing, and the first of them is named', (t) => {
    using whole = openFolder()
    using torn = openFolder()
    makeLog(whole.data, FIRST)
    const db = openForWriting(storePath(whole.data))
    const path = storePath(whole.data)
    const heads = new Set<string>()
    try {
      db.exec('PRAGMA wal_autocheckpoint = 0')
      const appender = openAppender(db, testSigner(db))
      while (appender.head().seq < EVENTS) {
        appender.begin()
        appendEvent(appender, appender.head().seq + 1)
        appender.write()
        appender.commit()
      }
      markHighWater(whole.data, newestCheckpoint(db))
      const [store, wal] = [readFileSync(path), readFileSync(`${path}-wal`)]
      for (let state = 0; state <= STATES; state += 1) {
        rmSync(torn.data, { recursive: true, force: true })
        cpSync(whole.data, torn.data, {
          recursive: true,
          filter: (from) => from === whole.data || from.endsWith(HIGH_WATER_FILE),
        })
        writeFileSync(storePath(torn.data), store)
        writeFileSync(
          `${storePath(torn.data)}-wal`,
          wal.subarray(0, state === STATES ? wal.length : CAMPAIGN.random.below(wal.length)),
        )
        const refusal = refusalAtStart(torn.data)
        const [, seq, head] =
          /^seq (\d+): the log ends at seq (\d+) but was published up to seq 200/.exec(refusal ?? '') ?? []
        heads.add(head ?? 'all')
        if (state === STATES) assert.equal(refusal, undefined)
        else if (refusal !== undefined) assert.equal(Number(seq), Number(head) + 1, refusal)
        else assert.equal(digestOf(storePath(torn.data)), digestOf(path), 'everything is there')
      }
    } finally {
      db.close()
    }
    t.diagnostic(`${heads.size} different heads`)
    counted.cuts = STATES
    // One for each event that may be missing, and one for a log that has all.
    const most = EVENTS - FIRST[3] + 1
    assert.ok(heads.size > Math.min(STATES / 2, most - 1), `${heads.size} different heads`)
  })
})

test('the damage is found as often as it must be', (t) => {
  // Most bits of a key are of its number. A third of the bits of a store are in no row.
  const floors = { states: STATES, found: STATES / 3, marks: STATES, keysRefused: STATES / 2, cuts: STATES }
  CAMPAIGN.finish(t, counted, floors)
})
