import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Trial } from './oracle/comparison.ts'
import { diceOf, testAgainstOracle } from './oracle/comparison.ts'
import { download } from './oracle/download.ts'
import type { Service } from './service.ts'
import { startService } from './service.ts'

const SAMPLE = join(import.meta.dirname, 'sample', 'sample.drafts.jsonl')
const SEED = Number(process.env['ORACLE_SEED'] ?? 20_261_121)

suite(`the service agrees with the oracle about the sample (seed ${SEED})`, () => {
  const trial: Trial = { base: '', book: [], rounds: 24, dice: diceOf(SEED) }
  let service: Service | undefined
  before(async () => {
    service = await startService({ drafts: SAMPLE })
    trial.base = service.url
    trial.book = await download(service.url)
  })
  after(async () => service?.[Symbol.asyncDispose]())

  test('the sample is there and the archive holds all of it', () => {
    assert.ok(existsSync(SAMPLE))
    assert.ok(trial.book.length > 100)
  })
  testAgainstOracle(trial)
})
