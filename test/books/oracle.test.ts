import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Trial } from '../oracle/trial.ts'
import { testAgainstOracle } from '../oracle/comparison.ts'
import { diceOf } from '../oracle/trial.ts'
import { CORNERS, cornerDrafts } from '../oracle/corners.ts'
import { download } from '../oracle/download.ts'
import type { Service } from '../stage/service.ts'
import { startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'

const SEED = Number(process.env['ORACLE_SEED'] ?? 20_261_121)

suite(`the service agrees with the oracle about the sample (seed ${SEED})`, () => {
  const trial: Trial = { base: '', book: [], rounds: 16, dice: diceOf(SEED) }
  let service: Service | undefined
  before(async () => {
    service = await startService({ drafts: SAMPLE })
    trial.base = service.url
    trial.book = await download(service.url)
  })
  after(async () => service?.[Symbol.asyncDispose]())

  test('the archive has every event', () => assert.ok(trial.book.length > 100))
  testAgainstOracle(trial)
})

for (const rows of CORNERS) {
  suite(`the service agrees with the oracle about ${rows} rare events (seed ${SEED})`, () => {
    const trial: Trial = { base: '', book: [], rounds: 5, dice: diceOf(SEED) }
    let service: Service | undefined
    before(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'daybook-corners-'))
      const drafts = join(folder, 'corners.jsonl')
      await writeFile(drafts, cornerDrafts(rows))
      service = await startService({ drafts })
      await rm(folder, { recursive: true, force: true })
      trial.base = service.url
      trial.book = await download(service.url)
    })
    after(async () => service?.[Symbol.asyncDispose]())

    test('the archive has every event', () => assert.equal(trial.book.length, rows))
    testAgainstOracle(trial)
  })
}
