import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { inTurns } from './in-turns.ts'
import { type Judgement, judgeMutant, type TimedTest } from './judge-mutant.ts'
import type { Mutant } from './mutant.ts'

/** Where and how a run judges its mutants. */
type RunSettings = Readonly<{
  /** Folder of the state. */
  state: string
  /** Name of the run, from which it goes on: `listed`, or the seed. */
  run: string
  jobs: number
  tell: (line: string) => void
  stop: AbortSignal
}>

/** A mutant and the tests that may kill it. */
export type Candidate = Readonly<{ mutant: Mutant; tests: () => readonly TimedTest[] }>

/**
 * Judges the mutants that this run has not judged yet, and those that survived when `again` is set. Each judgement is
 * recorded at once, so a run that is broken off goes on where it ended.
 */
export async function runMutants(
  { state, run, jobs, tell, stop }: RunSettings,
  candidates: readonly Candidate[],
  { again, judged }: Readonly<{ again: boolean; judged: (mutant: Mutant, judgement: Judgement) => void }>,
): Promise<void> {
  mkdirSync(state, { recursive: true })
  const known = judgementsOf(state, run)
  const isDone = ({ mutant }: Candidate): boolean => {
    const verdict = known.get(mutant.id)?.verdict
    return verdict !== undefined && (!again || verdict === 'killed' || verdict === 'hung')
  }
  const due = candidates.filter((candidate) => !isDone(candidate))
  tell(`${run}: ${due.length} of ${candidates.length} mutants to judge`)
  let count = 0
  await inTurns(due, jobs, stop, async ({ mutant, tests }) => {
    const judgement = await judgeMutant(mutant, tests(), stop)
    appendFileSync(recordOf(state, run), `${JSON.stringify(judgement)}\n`)
    judged(mutant, judgement)
    count += 1
    const by = judgement.by === undefined ? '' : ` by ${judgement.by}`
    tell(`${count}/${due.length} ${judgement.seconds} s ${judgement.verdict}: ${mutant.id}${by}`)
  })
}

/** The newest judgement of each mutant of a run. */
export function judgementsOf(state: string, run: string): ReadonlyMap<string, Judgement> {
  const path = recordOf(state, run)
  if (!existsSync(path)) return new Map()
  // A run that was killed may have left half a line.
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
  return new Map(lines.map((line) => JSON.parse(line) as Judgement).map((one) => [one.id, one]))
}

/** Judgements of all runs in a state. */
export function judgementsIn(state: string): readonly Judgement[] {
  const names = existsSync(state) ? readdirSync(state).filter((name) => name.endsWith('.jsonl')) : []
  return names.flatMap((name) => [...judgementsOf(state, basename(name, '.jsonl')).values()])
}

const recordOf = (state: string, run: string): string => join(state, `${run}.jsonl`)
