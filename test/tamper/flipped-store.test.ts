import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { randomOf } from '../../sim/random.ts'
import { outsideReason } from '../../src/command/terminal/world.ts'
import { openAppender } from '../../src/log/append.ts'
import { HIGH_WATER_FILE, markHighWater } from '../../src/log/store/high-water.ts'
import { newestCheckpoint } from '../../src/log/tree/ready-log.ts'
import { openForWriting, storePath } from '../../src/log/store/store.ts'
import { appendEvent, runCheck, copyLog, makeLog, openFolder, refusalAtStart } from '../story/damaged-log.ts'
import { testSigner } from '../story/signing.ts'

/** Damaged states of each kind. The long campaign is `DAYBOOK_CAMPAIGN=20000`. */
const STATES = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 25)
const SEED = process.env['DAYBOOK_SEED'] ?? 'no silent damage'
const FIRST = [3, 10, 50, 120] as const
const EVENTS = 200

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
    return outsideReason(error) ?? assert.fail(error instanceof Error ? error : String(error))
  }
}

suite('a store with any bit flipped', () => {
  test(
    'is found to be damaged by the check, or holds what it held',
    { timeout: 60_000 + STATES * 500 },
    async (t) => {
      t.diagnostic(`seed: ${SEED}`)
      const random = randomOf(SEED)
      using whole = openFolder()
      using copy = openFolder()
      makeLog(whole.data, [...FIRST, EVENTS])
      const bytes = readFileSync(storePath(whole.data))
      const digest = digestOf(storePath(whole.data))
      let found = 0
      for (let state = 0; state < STATES; state += 1) {
        rmSync(copy.data, { recursive: true, force: true })
        copyLog(whole.data, copy.data)
        const flipped = Buffer.from(bytes)
        const at = random.below(bytes.length)
        flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
        writeFileSync(storePath(copy.data), flipped)
        const fault = await foundBy(async () => {
          const { code, said } = await runCheck(copy.data)
          return code === 0 ? undefined : said
        })
        if (fault === undefined)
          assert.equal(digestOf(storePath(copy.data)), digest, `byte ${at} is damaged in silence`)
        else found += 1
        await foundBy(() => Promise.resolve(refusalAtStart(copy.data)))
      }
      t.diagnostic(`${found} of ${STATES} states were damaged`)
      assert.ok(found > STATES / 3, `${found} states were damaged`)
    },
  )
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
        appender.keep()
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
          wal.subarray(0, Math.floor((wal.length * state) / STATES)),
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
    assert.ok(heads.size > STATES / 2, `${heads.size} different heads`)
  })
})
