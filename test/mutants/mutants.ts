import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { useTemporaryFolder } from '../processes/temporary-folder.ts'
import { drawMutants, testsNear } from './generate-mutants.ts'
import { type Judgement, judgeMutant, type Mutant } from './judge-mutant.ts'
import { LISTED_MUTANTS } from './listed-mutants.ts'

/**
 * `npm run mutants`: applies plausible bugs, one at a time, and runs the tests that must find each. Without an option it
 * judges the listed mutants. `--only ID` judges one of them. `--generated N` judges N mutants that rules make of the
 * sources, drawn by `--seed`. The exit code is 1 when a listed mutant lives, when fewer than 90% of the generated ones
 * die, or when the run was broken off.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    generated: { type: 'string' },
    seed: { type: 'string', default: randomUUID().slice(0, 8) },
    jobs: { type: 'string', default: '2' },
  },
})
/** Time limit of a run. */
const RUN_MINUTES_MAX = 150
/** Least share of the generated mutants that die. */
const DEAD_PERCENT_MIN = 90

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
const limit = setTimeout(() => stop.abort(), RUN_MINUTES_MAX * 60_000)
useTemporaryFolder()
try {
  if (values.generated === undefined) await runListed(values.only)
  else await runGenerated(Number(values.generated), values.seed)
} catch (error) {
  if (!stop.signal.aborted) throw error
  process.stdout.write('stopped\n')
  process.exitCode = 1
} finally {
  // Ends the tests that still run after a failure.
  stop.abort()
  clearTimeout(limit)
}

async function runListed(only: readonly string[]): Promise<void> {
  const unknown = only.find((id) => LISTED_MUTANTS.every((mutant) => mutant.id !== id))
  if (unknown !== undefined) throw new Error(`no listed mutant has the id ${unknown}`)
  const chosen = LISTED_MUTANTS.filter(({ id }) => only.length === 0 || only.includes(id))
  const alive = await judgeAll(chosen.map((mutant) => ({ mutant, tests: mutant.tests })))
  const promises = new Map(chosen.map(({ id, promise }) => [id, promise]))
  for (const { id } of alive) process.stdout.write(`ALIVE ${id}: ${promises.get(id)}\n`)
  process.stdout.write(`${chosen.length - alive.length} of ${chosen.length} listed mutants die\n`)
  if (alive.length > 0) process.exitCode = 1
}

async function runGenerated(count: number, seed: string): Promise<void> {
  const drawn = drawMutants(count, seed)
  process.stdout.write(`${drawn.length} mutants are drawn with --seed ${seed}\n`)
  const alive = await judgeAll(drawn.map((mutant) => ({ mutant, tests: testsNear(mutant.file) })))
  for (const { id, verdict } of alive) process.stdout.write(`ALIVE ${id} (${verdict})\n`)
  const dead = drawn.length - alive.length
  process.stdout.write(`${dead} of ${drawn.length} generated mutants die\n`)
  if (100 * dead < DEAD_PERCENT_MIN * drawn.length) process.exitCode = 1
}

/** Judges mutants, some at a time, and returns the judgements of those that live. */
async function judgeAll(
  due: readonly Readonly<{ mutant: Mutant; tests: readonly string[] }>[],
): Promise<readonly Judgement[]> {
  const judged: Judgement[] = []
  const begunMs = performance.now()
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < due.length && !stop.signal.aborted; index = next++) {
      const one = due[index]
      if (one === undefined) return
      const judgement = await judgeMutant(one.mutant, one.tests, stop.signal)
      judged.push(judgement)
      const seconds = Math.round((performance.now() - begunMs) / 1_000)
      const by = judgement.by === undefined ? '' : ` by ${judgement.by}`
      process.stdout.write(
        `${seconds} s ${judged.length}/${due.length} ${judgement.verdict}: ${judgement.id}${by}\n`,
      )
    }
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work))
  stop.signal.throwIfAborted()
  return judged.filter(({ verdict }) => verdict === 'survived' || verdict === 'unreached')
}
