import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { useTemporaryFolder } from '../processes/temporary-folder.ts'
import { ROOT } from '../stage/places.ts'
import { openAcceptedMutants } from './accepted-mutants.ts'
import { drawMutants } from './generated-sample.ts'
import { LISTED_MUTANTS } from './listed-mutants.ts'
import type { Judgement } from './judge-mutant.ts'
import { locate, type Mutant } from './mutant.ts'
import { mutantsOf } from './generate-mutants.ts'
import { faultsOfRun, reportOfRun } from './report.ts'
import { judgementsOf, runMutants } from './run-mutants.ts'
import { measureTests, openTestMap } from './test-map.ts'

/**
 * `npm run mutants`: the listed mutants, then a drawn sample of generated ones, each with the tests that may kill it. A run
 * that was broken off goes on with its `--seed`. `--only` takes the id of a listed or a generated mutant; `--test` names
 * the tests of the generated ones. The exit code is 1 when a listed or a chosen mutant lives, when the sample fails
 * (`faultsOfRun`), or when the run was broken off.
 */
const { values } = parseArgs({
  options: {
    listed: { type: 'boolean', default: false },
    generated: { type: 'string' },
    seed: { type: 'string', default: randomUUID().slice(0, 8) },
    room: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    test: { type: 'string', multiple: true, default: [] },
    jobs: { type: 'string', default: '2' },
    again: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
})
/** Generated mutants of a whole run. */
const GENERATED = 1_000
/** Time limit of a run. It goes on with its seed. */
const RUN_MINUTES_MAX = 150
const STATE = join(ROOT, '.daybook-mutants')
const { seed, again, only } = values
const jobs = Number(values.jobs)
const isWhole = !values.listed && values.generated === undefined && only.length === 0
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
const limit = setTimeout(() => {
  tell(`${RUN_MINUTES_MAX} minutes are over: go on with --seed ${seed}`)
  stop.abort()
}, RUN_MINUTES_MAX * 60_000)
useTemporaryFolder()
// The tests start some thousand processes from the same sources: they share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(STATE, 'compiled')

const begun = performance.now()
const tell = (line: string): void =>
  void process.stdout.write(`${Math.round((performance.now() - begun) / 1_000)} s ${line}\n`)
try {
  if (values.listed || isWhole || only.some(isListed)) await runListed()
  if (!only.every(isListed)) await runChosen(only.filter((id) => !isListed(id)))
  if (values.generated !== undefined || isWhole) await runGenerated(Number(values.generated ?? GENERATED))
} catch (error) {
  if (!stop.signal.aborted) throw error
  tell(`stopped: go on with --seed ${seed}`)
  process.exitCode = 1
} finally {
  // Ends the tests that still run after a failure.
  stop.abort()
  clearTimeout(limit)
}

function isListed(id: string): boolean {
  return LISTED_MUTANTS.some((row) => row.id === id)
}

/** Judges generated mutants by their ids, which begin with the source. */
async function runChosen(ids: readonly string[]): Promise<void> {
  const chosen = ids.map((id) => {
    const mutant = mutantsOf(id.split(' ', 1)[0] ?? '').find((made) => made.id === id)
    return mutant ?? assert.fail(`no mutant has the id ${id}`)
  })
  const named = values.test.map((file) => ({ file, seconds: 10 }))
  if (named.length === 0) await measureTests(STATE, jobs, tell, stop.signal)
  const testsOf = named.length === 0 ? openTestMap(STATE).testsOf : () => named
  const candidates = chosen.map((mutant) => ({ mutant, tests: () => testsOf(mutant) }))
  const settings = { state: STATE, run: 'chosen', jobs, tell, stop: stop.signal }
  // Chosen mutants are judged each time, also those that died before.
  rmSync(join(STATE, 'chosen.jsonl'), { force: true })
  await runMutants(settings, candidates, { again: true, judged: noteAlive })
}

function noteAlive({ id }: Mutant, { verdict }: Judgement): void {
  if (verdict === 'killed' || verdict === 'hung') return
  process.stdout.write(`ALIVE ${id}\n`)
  process.exitCode = 1
}

async function runListed(): Promise<void> {
  const listed = LISTED_MUTANTS.filter(({ id }) => only.length === 0 || only.includes(id))
  const candidates = listed.map((row) => ({
    mutant: locate(row),
    tests: () => row.tests.map((file) => ({ file, seconds: 5 })),
  }))
  const settings = { state: STATE, run: 'listed', jobs, tell, stop: stop.signal }
  if (!values.report) {
    // Judged each time: a test may have become weaker since.
    rmSync(join(STATE, 'listed.jsonl'), { force: true })
    await runMutants(settings, candidates, { again: false, judged: () => undefined })
  }
  const judgements = judgementsOf(STATE, 'listed')
  const alive = listed.filter(({ id }) => !['killed', 'hung'].includes(judgements.get(id)?.verdict ?? ''))
  for (const { id, promise } of alive) process.stdout.write(`ALIVE ${id}: ${promise}\n`)
  const byQuick = listed.filter(({ id }) => judgements.get(id)?.by?.endsWith('.slow.test.ts') === false)
  process.stdout.write(
    `${listed.length - alive.length} of ${listed.length} listed mutants die, ${byQuick.length} of them in npm test\n`,
  )
  if (alive.length > 0) process.exitCode = 1
}

async function runGenerated(count: number): Promise<void> {
  tell(
    `seed ${seed}: go on, or judge the survivors again, with --generated ${count} --seed ${seed} [--again]`,
  )
  const { isAccepted, save } = openAcceptedMutants(STATE)
  const { drawn, all, refused } = drawMutants(seed, count, values.room, isAccepted)
  save()
  tell(`${drawn.length} of ${all} generated mutants drawn; the compiler refused ${refused}`)
  if (!values.report) {
    await measureTests(STATE, jobs, tell, stop.signal)
    stop.signal.throwIfAborted()
    const map = openTestMap(STATE)
    const candidates = drawn.map((mutant) => ({ mutant, tests: () => map.testsOf(mutant) }))
    await runMutants({ state: STATE, run: `seed-${seed}`, jobs, tell, stop: stop.signal }, candidates, {
      again,
      judged: ({ file }, { by }) => void (by === undefined || map.killed(file, by)),
    })
  }
  const judgements = judgementsOf(STATE, `seed-${seed}`)
  process.stdout.write(`\n${reportOfRun(drawn, judgements)}`)
  for (const fault of faultsOfRun(drawn, judgements)) {
    process.stdout.write(`FAULT ${fault}\n`)
    process.exitCode = 1
  }
}
