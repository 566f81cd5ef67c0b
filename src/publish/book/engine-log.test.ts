import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { runCheck } from '../../../test/story/damaged-log.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { openForWriting, StoreError, storePath } from '../../log/store/store.ts'
import { writePosition } from '../../log/stream/engine-position.ts'
import { readyLog } from '../../log/tree/ready-log.ts'
import { msOf } from '../../protocol/moment.ts'
import { importFiles } from '../import/import.ts'

const NEW_LOG = { origin: 'daybook.test/engine', chain: 'opaque', simulated: false } as const
const REFUSAL = new StoreError(
  'this log is on an engine: serve it with --log-store, or take it off with daybook cluster move --back',
)

suite('a log on an engine', () => {
  test('is not served without it, and nothing is imported into it', async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-engine-'))
    t.after(() => rmSync(data, { recursive: true }))
    const signing = { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false }
    readyLog(data, NEW_LOG, signing)
    const db = openForWriting(storePath(data))
    writePosition(db, { stream: 1, place: 7, digest: new Uint8Array(32) })
    db.close()
    assert.throws(() => readyLog(data, NEW_LOG, signing), REFUSAL)
    const checked = await runCheck(data)
    assert.equal(checked.code, 1)
    assert.match(checked.said, /messages: the newest is not that of place 7, which the store names/)
    const file = join(data, 'drafts.jsonl')
    writeFileSync(file, '{"type":"trade","kind":"buy","kots":"1","at":"2026-01-01T00:00:00.000Z"}\n')
    const imported = importFiles({
      files: [file],
      dataDirectory: data,
      newLog: NEW_LOG,
      keys: [TEST_KEY],
      balances: 'refuse',
      now: msOf(Date.UTC(2026, 5, 1)),
      monotonicMs: () => 0,
      onProgress: () => undefined,
      signal: new AbortController().signal,
    })
    await assert.rejects(imported, REFUSAL)
  })

  test('is not served from a copy of before it was put there', (t) => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-engine-'))
    t.after(() => rmSync(data, { recursive: true }))
    const signing = { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false }
    readyLog(data, NEW_LOG, signing)
    const mark = readHighWater(data) ?? assert.fail()
    markHighWater(data, { ...mark, message: { stream: 1, place: 7, digest: '' } })
    assert.throws(() => readyLog(data, NEW_LOG, signing), /is a copy from before it was put there/)
  })
})
