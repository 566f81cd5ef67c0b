import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { openForWriting, readIdentity, storePath, writeIdentity } from '../../src/log/store/store.ts'
import { keepWitnessed } from '../../src/log/witnessed/witnessed-file.ts'
import { type Ms, SECOND_MS } from '../../src/protocol/moment.ts'
import { importFiles } from '../../src/publish/import/import.ts'
import { TEST_KEY } from '../story/signing.ts'
import { cosignedState } from '../story/witnesses.ts'
import { type ManualNode, manualContext, startManualNode } from '../stage/manual-node.ts'

/** A service over a fixed log at a fixed moment. */
type GoldenNode = AsyncDisposable & Pick<ManualNode, 'bytesOf'>

const ORIGIN = 'daybook.example/golden'
/** A fixed log id, so that answers with it do not differ between runs. */
const LOG_ID = '0123456789abcdef0123456789abcdef'

/** Imports the drafts (JSON lines) and serves them, cosigned by witnesses, with the clock stopped at `now`. */
export async function openGoldenNode(drafts: string, now: Ms): Promise<GoldenNode> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-golden-'))
  const data = join(folder, 'data')
  const file = join(folder, 'drafts.jsonl')
  writeFileSync(file, drafts)
  const newLog = { origin: ORIGIN, chain: 'solana', simulated: false } as const
  const context = manualContext(() => now)
  const outcome = await importFiles({
    files: [file],
    dataDirectory: data,
    newLog,
    keys: [TEST_KEY],
    balances: 'refuse',
    now,
    monotonicMs: context.monotonicMs,
    onProgress: () => undefined,
    signal: context.stop,
  })
  if (!outcome.ok) throw new Error(`line ${outcome.line}, ${outcome.field}: ${outcome.reason}`)
  const db = openForWriting(storePath(data))
  writeIdentity(db, { ...readIdentity(db), id: LOG_ID })
  db.close()
  // The mark has the log's former id.
  rmSync(join(data, HIGH_WATER_FILE))
  const service = await startManualNode(data, newLog, [TEST_KEY], now)
  const checkpoint = await service.bytesOf('/api/v1/log/checkpoint')
  keepWitnessed(data, cosignedState(checkpoint.toString(), { timeSeconds: Math.floor(now / SECOND_MS) }))
  return {
    bytesOf: service.bytesOf,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}
