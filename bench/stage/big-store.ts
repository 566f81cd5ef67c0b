import { hash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAppender } from '../../src/log/append.ts'
import { TABLES } from '../../src/log/store/store-schema.ts'
import { openParquetMaker } from '../../src/log/parquet/parquet-month.ts'
import { createStore, finishBulk, openForBulk, storePath } from '../../src/log/store/store.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { draftDigest, parseDraft } from '../../src/publish/admission/grammar.ts'
import { bigDrafts } from './big-drafts.ts'
import { TEST_KEY, testSigner } from '../../test/story/signing.ts'

/** Three whole years: the longest range of `/patterns`, and enough for every table of weeks and months. */
const FROM = Date.UTC(2023, 9, 1)
const TO = Date.UTC(2026, 9, 1)

/** Version of the drafts. A new version replaces older stores. */
const DRAFTS_VERSION = 1
/** Digest of the tables. A new schema replaces older stores. */
const TABLES_DIGEST: string = hash('sha256', TABLES).slice(0, 8)
/** Events between two writes to the store. */
const KEEP_EVERY = 2_000

/** Data directory of a log of `count` events under `directory`; built if it does not exist. */
export function bigStore(directory: string, count: number): string {
  const data = join(directory, `events-${count}-v${DRAFTS_VERSION}-${TABLES_DIGEST}`)
  if (!existsSync(storePath(data))) buildIn(data, count)
  makeParquet(data)
  return data
}

function buildIn(data: string, count: number): void {
  const building = `${data}.building`
  rmSync(building, { recursive: true, force: true })
  mkdirSync(building, { recursive: true })
  build(storePath(building), count)
  // A service looks for the key beside its data directory.
  writeFileSync(`${data}.key`, TEST_KEY.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  renameSync(building, data)
}

/** Makes the Parquet files, which a service would otherwise make while it is measured. */
function makeParquet(data: string): void {
  using maker = openParquetMaker(data, 0)
  for (const month of maker.missing()) maker.make(month)
}

function build(path: string, count: number): void {
  process.stderr.write(`building a log of ${count} events\n`)
  createStore(path, { origin: 'localhost/bench', chain: 'solana', simulated: true })
  const db = openForBulk(path)
  const appender = openAppender(db, testSigner(db))
  appender.begin()
  for (const { ms, draft } of bigDrafts({ seed: 'big', from: msOf(FROM), to: msOf(TO), count })) {
    const seq = appender.head().seq + 1
    if (seq > count) break
    const ref = `big-${seq}`
    const parsed = parseDraft({ ref, ...draft }, { chain: 'solana', mode: 'publish' })
    if (!parsed.ok) throw new Error(`draft ${seq}, ${parsed.field}: ${parsed.reason}`)
    appender.append(parsed.draft, { ref, digest: draftDigest(parsed.draft) }, ms)
    if (seq % KEEP_EVERY === 0) appender.write()
  }
  appender.write()
  appender.commit()
  finishBulk(db)
  db.close()
}
