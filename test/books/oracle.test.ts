import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { diceOf, type Trial } from '../oracle/trial.ts'
import { testAgainstOracle } from '../oracle/comparison.ts'
import { CORNER_DRAFTS, CORNERS } from '../oracle/corners.ts'
import { download } from '../oracle/download.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { SAMPLE } from '../stage/places.ts'

const SEED = Number(process.env['ORACLE_SEED'] ?? 20_261_121)

/** Opens a stage before the tests of a suite, and closes it after them. Returns the stage of a running test. */
function openStage(): () => ApiStage {
  let stage: ApiStage | undefined
  before(async () => {
    stage = await openApiStage({ story: [], chain: 'solana' })
  })
  after(async () => stage?.[Symbol.asyncDispose]())
  return () => stage ?? assert.fail('the stage is open')
}

/** Imports the drafts before the tests of a suite, and compares every answer with the oracle's. */
function testAfter(drafts: readonly string[], stage: () => ApiStage, rounds: number, events: number): void {
  const trial: Trial = { base: '', book: [], rounds, dice: diceOf(SEED) }
  before(async () => {
    stage().import(drafts)
    trial.base = `http://127.0.0.1:${stage().port}`
    trial.book = await download(trial.base)
  })
  test('the archive has every event', () => assert.equal(trial.book.length, events))
  testAgainstOracle(trial)
}

suite(`the service agrees with the oracle about the sample (seed ${SEED})`, () => {
  const drafts = readFileSync(SAMPLE, 'utf8').trimEnd().split('\n')
  testAfter(drafts, openStage(), 5, drafts.length)
})

suite('one service agrees with the oracle', () => {
  const stage = openStage()
  for (const [index, rows] of CORNERS.entries()) {
    suite(`about ${rows} rare events (seed ${SEED})`, () => {
      testAfter(CORNER_DRAFTS.slice(CORNERS[index - 1] ?? 0, rows), stage, 5, rows)
    })
  }
})
