import assert from 'node:assert/strict'
import type { Mutant } from './mutant.ts'
import { runTestFile } from './run-test-file.ts'

/** A test file and the seconds that it needs without a mutant. */
export type TimedTest = Readonly<{ file: string; seconds: number }>

/**
 * Judgement of a mutant: killed by a test that fails, or does not end although it ends without the mutant,
 * survived every test that was asked, or never run, because no test loads its module or executes its place.
 */
export type Judgement = Readonly<{
  id: string
  verdict: 'killed' | 'hung' | 'survived' | 'unreached'
  /** The test file that killed it. */
  by?: string
  told?: string
  /** Test files that passed. */
  passed: number
  seconds: number
}>

/** A test with a mutant has this many times its usual time, and some seconds more, before it counts as hanging. */
const HANG_FACTOR = 6
const HANG_MS_MIN = 15_000

/**
 * Runs the tests in turn until one does not pass. A test that is late kills the mutant only if it is not late without it:
 * the machine may have been busy.
 */
export async function judgeMutant(
  mutant: Mutant,
  tests: readonly TimedTest[],
  stop: AbortSignal,
  hangMsMin: number = HANG_MS_MIN,
): Promise<Judgement> {
  const { id } = mutant
  let [seconds, passed, reached] = [0, 0, false]
  for (const test of tests) {
    const msMax = hangMsMin + HANG_FACTOR * 1_000 * test.seconds
    const run = await runTestFile(test.file, mutant, { msMax, stop })
    seconds += run.seconds
    reached ||= run.loaded
    if (run.outcome === 'passed') {
      passed += 1
      continue
    }
    if (run.outcome === 'late') {
      const control = await runTestFile(test.file, undefined, { msMax, stop })
      seconds += control.seconds
      if (control.outcome === 'late') continue
    }
    assert.ok(run.loaded, `${test.file} fails without the mutant: ${run.told}`)
    const verdict = run.outcome === 'late' ? 'hung' : 'killed'
    return { id, verdict, by: test.file, told: run.told, passed, seconds: rounded(seconds) }
  }
  return { id, verdict: reached ? 'survived' : 'unreached', passed, seconds: rounded(seconds) }
}

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10
