import {
  closeSync,
  createReadStream,
  createWriteStream,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { bulkLines } from '../sim/bulk.ts'
import { writeDrafts } from '../sim/draft-file.ts'
import { msOf } from '../src/protocol/moment.ts'
import { importFiles } from '../src/publish/import/import.ts'
import { TEST_KEY } from '../test/story/signing.ts'
import { benchSettings, inTurns, report } from './stage/report.ts'

/**
 * Measures `daybook import`, from the first byte read to the last fsync, and a bare loop that inserts the same lines through
 * node:sqlite: no rules, books, archive or second thread.
 */

const { full } = benchSettings()
const drafts = full ? 500_000 : 150_000
const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-import-'))
const file = join(folder, 'drafts.jsonl')
try {
  const span = { from: msOf(Date.UTC(2022, 0, 1)), to: msOf(Date.UTC(2026, 0, 1)) }
  await writeDrafts(createWriteStream(file), bulkLines({ seed: 'bench', ...span, count: drafts }))
  const [ours = [], theirs = []] = await inTurns(3, [importDrafts, insertDrafts], async (candidate) => {
    const data = join(folder, 'data')
    const began = performance.now()
    await candidate(data)
    const seconds = (performance.now() - began) / 1_000
    rmSync(data, { recursive: true })
    return drafts / seconds
  })
  report([{ what: 'import', unit: 'drafts/s', peer: 'bare node:sqlite loop', ours, theirs, better: 'more' }])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function importDrafts(dataDirectory: string): Promise<void> {
  const outcome = await importFiles({
    files: [file],
    dataDirectory,
    newLog: { origin: 'bench.example/log', chain: 'solana', simulated: true },
    keys: [TEST_KEY],
    balances: 'refuse',
    now: msOf(Date.now()),
    monotonicMs: () => performance.now(),
    onProgress: () => undefined,
    signal: new AbortController().signal,
  })
  if (!outcome.ok) throw new Error(`line ${outcome.line}, ${outcome.field}: ${outcome.reason}`)
}

/** One table, one transaction without a journal, three indexes built last, one fsync. */
async function insertDrafts(path: string): Promise<void> {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -65536;
    CREATE TABLE drafts (
      seq INTEGER PRIMARY KEY, ref TEXT, at INTEGER, type TEXT, kind TEXT, contest INTEGER, kots TEXT, line TEXT
    ) STRICT;
    BEGIN`)
  const insert = db.prepare('INSERT INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  let seq = 0
  for await (const line of createInterface({ input: createReadStream(file, { highWaterMark: 262_144 }) })) {
    const { ref, at, type, kind, contestId = null, kots = null } = JSON.parse(line)
    insert.run(++seq, ref, Date.parse(at), type, kind, contestId, kots, line)
  }
  db.exec(`COMMIT; CREATE UNIQUE INDEX drafts_ref ON drafts (ref); CREATE INDEX drafts_at ON drafts (at);
    CREATE INDEX drafts_contest ON drafts (contest)`)
  db.close()
  const written = openSync(path, 'r+')
  fsyncSync(written)
  closeSync(written)
}
