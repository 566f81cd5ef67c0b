import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { msOf } from '../../src/protocol/moment.ts'
import { openCosignerStage, shownNote } from '../witness/cosigner-stage.ts'
import { sampleLog, submissionOf } from '../witness/sample-log.ts'
import { startStagedWitness } from '../witness/witness-stage.ts'
import type { Cause } from './rule-test.ts'
import { scrape } from './scrape.ts'

/** Milliseconds by which the clock of the witness is set back: more than it accepts. */
const BACK_MS = 120_000

/** Causes that a witness meets: a wrong clock, a log with two histories, its own forgotten cosignature. */
export async function cosignerCauses(folder: string): Promise<readonly Cause[]> {
  mkdirSync(folder)
  const log = sampleLog('log.example/a')
  const fork = sampleLog('log.example/a', 100)
  let backMs = 0
  const now = () => msOf(Date.now() - backMs)
  await using witness = await startStagedWitness(
    join(folder, 'witness'),
    [{ origin: log.origin, keys: [log.key] }],
    now,
  )
  using twin = openCosignerStage([log])
  const ask = async (body: Buffer<ArrayBuffer>): Promise<void> => {
    const url = `http://127.0.0.1:${witness.port}/add-checkpoint`
    await (await fetch(url, { method: 'POST', body })).text()
  }
  const metrics = () => scrape(`http://127.0.0.1:${witness.opsPort}`)
  await ask(log.submission(0, 5))
  const healthy = await metrics()
  backMs = BACK_MS
  await ask(log.submission(5, 6))
  const clock = await metrics()
  backMs = 0
  await ask(fork.submission(5, 5))
  const contradicted = await metrics()
  await twin.add(log.submission(0, 9))
  await ask(submissionOf(5, log.proof(5, 9), shownNote(twin, log)))
  const back = await metrics()
  return [
    {
      alert: 'WitnessCannotCosign',
      by: 'a clock that went back',
      healthy,
      ailing: [clock],
      severity: 'page',
    },
    {
      alert: 'WitnessFoundContradiction',
      by: 'a log with two histories',
      healthy,
      ailing: [contradicted],
      severity: 'ticket',
    },
    {
      alert: 'WitnessStateBack',
      by: 'a witness that has forgotten its own cosignature',
      healthy,
      ailing: [back],
      severity: 'page',
    },
  ]
}
