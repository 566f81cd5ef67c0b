import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { ROOT } from '../stage/places.ts'
import { SOURCES } from '../stage/source-tree.ts'
import { inTurns } from './in-turns.ts'
import type { TimedTest } from './judge-mutant.ts'
import { type Executed, executedIn, isExecuted } from './coverage.ts'
import type { Mutant } from './mutant.ts'
import { judgementsIn } from './run-mutants.ts'
import { removeLater, runTestFile } from './run-test-file.ts'
import { KNOWN_SURVIVORS } from './survivors.ts'

/** A test file as it runs without a mutant: how long, and what of the product it executes. */
type MappedTest = Readonly<{
  file: string
  /** Null when it failed or took longer than the limit. */
  seconds: number | null
  processorSeconds: number
  /** Hashes of the test and of the sources that it executes: when one changes, the test is measured again. */
  hashes: Readonly<Record<string, string>>
  executed: Executed
}>

/** Processor time of a test file that may kill a mutant, with coverage, and the time limit of its measure. */
const PROCESSOR_SECONDS_MAX = 30
const MEASURE_MS_MAX = 120_000
/** Folders of `test` whose tests start browsers, other programs or many processes, or read documents. */
const COSTLY = [
  'alerts',
  'cluster',
  'documents',
  'image',
  'log-lines',
  'mutants',
  'ops',
  'outbox',
  'previews',
  'release',
  'torture',
  'versions',
  'web',
]

/** Test files of the project that are measured. */
export const MEASURED: readonly string[] = SOURCES.filter(
  (path) =>
    path.endsWith('.test.ts') &&
    !/^(?:src\/web|bench)\//.test(path) &&
    !COSTLY.some((folder) => path.startsWith(`test/${folder}/`)),
)

/**
 * Measures the test files that are not measured yet, or whose sources changed since. The measures are kept in the folder
 * `map` of the state. Each test runs once, with V8's coverage.
 */
export async function measureTests(
  state: string,
  jobs: number,
  tell: (line: string) => void,
  stop: AbortSignal,
): Promise<void> {
  mkdirSync(join(state, 'map'), { recursive: true })
  const hashes = new Map<string, string>()
  const due = MEASURED.filter((file) => !isFresh(readMeasure(state, file), hashes))
  if (due.length > 0) tell(`measuring ${due.length} of ${MEASURED.length} test files`)
  let done = 0
  await inTurns(due, jobs, stop, async (file) => {
    const measured = await measure(file, tell, stop)
    writeFileSync(measurePath(state, file), JSON.stringify(measured))
    done += 1
    if (done % 20 === 0) tell(`${done} of ${due.length} test files measured`)
  })
}

async function measure(file: string, tell: (line: string) => void, stop: AbortSignal): Promise<MappedTest> {
  const coverage = mkdtempSync(join(tmpdir(), 'daybook-coverage-'))
  try {
    const run = await runTestFile(file, undefined, { msMax: MEASURE_MS_MAX, coverage, stop })
    const executed = executedIn(coverage)
    const hashes = Object.fromEntries([file, ...Object.keys(executed)].map((path) => [path, hashOf(path)]))
    const isUsed = run.outcome === 'passed' && run.processorSeconds <= PROCESSOR_SECONDS_MAX
    const { seconds, processorSeconds } = run
    if (!isUsed) tell(`${file}: not used: ${run.outcome} in ${processorSeconds.toFixed(1)} s, ${run.told}`)
    return {
      file,
      seconds: isUsed ? seconds : null,
      processorSeconds,
      hashes,
      executed: isUsed ? executed : {},
    }
  } finally {
    removeLater(coverage)
  }
}

const measurePath = (state: string, file: string): string =>
  join(state, 'map', `${file.replaceAll('/', '+')}.json`)

function readMeasure(state: string, file: string): MappedTest | undefined {
  const path = measurePath(state, file)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as MappedTest) : undefined
}

function isFresh(measured: MappedTest | undefined, hashes: Map<string, string>): boolean {
  return (
    measured !== undefined &&
    Object.entries(measured.hashes).every(([path, known]) => {
      const present = hashes.get(path) ?? hashOf(path)
      hashes.set(path, present)
      return present === known
    })
  )
}

function hashOf(path: string): string {
  const full = join(ROOT, path)
  return existsSync(full) ? hash('sha256', readFileSync(full)).slice(0, 16) : ''
}

/** Chooses the tests of mutants. */
type TestMap = Readonly<{
  /** Tests that execute the place of a mutant, the likeliest to fail first. */
  testsOf(mutant: Mutant): readonly TimedTest[]
  /** Remembers that a test killed a mutant of this file. */
  killed(file: string, test: string): void
}>

/** Processor time of the tests for one mutant: a survivor needs it all. */
const MUTANT_SECONDS_MAX = 60
/** The same for a mutant with a reason to survive: a few tests watch over the reason. */
const KNOWN_SECONDS_MAX = 10

/** Reads the measures. */
export function openTestMap(state: string): TestMap {
  const measures = MEASURED.flatMap((file) => readMeasure(state, file) ?? []).filter(
    ({ seconds }) => seconds !== null,
  )
  const kills = new Map<string, number>()
  const killsOf = (place: string, test: string): number => kills.get(`${place} ${test}`) ?? 0
  const killed = (source: string, test: string): void => {
    for (const place of [source, dirname(source)]) kills.set(`${place} ${test}`, killsOf(place, test) + 1)
  }
  for (const { id, by } of judgementsIn(state)) if (by !== undefined) killed(id.split(' ', 1)[0] ?? '', by)
  /** Seconds that a kill by this test probably costs, to a factor. Kills of the source count more than those of its folder. */
  const costOf = (source: string, { file, processorSeconds }: MappedTest): number => {
    const known = killsOf(source, file) + killsOf(dirname(source), file) / 4
    return processorSeconds / (4 ** nearness(source, file) * (1 + known))
  }
  return {
    testsOf({ id, file, start }) {
      const found = measures
        .filter(({ executed }) => isExecuted(executed[file], start))
        .toSorted((a, b) => costOf(file, a) - costOf(file, b))
      let left = KNOWN_SURVIVORS[id] === undefined ? MUTANT_SECONDS_MAX : KNOWN_SECONDS_MAX
      return found
        .filter(({ processorSeconds }) => (left -= processorSeconds) >= 0)
        .map((measured) => ({ file: measured.file, seconds: measured.seconds ?? 0 }))
    },
    killed,
  }
}

/** Nearness of a test to a source: 3 beside it with its name, 2 in its folder, 1 in its room, 0 elsewhere. */
function nearness(source: string, test: string): number {
  if (test === source.replace(/\.ts$/, '.test.ts')) return 3
  if (dirname(test) === dirname(source)) return basename(test).includes(basename(source, '.ts')) ? 3 : 2
  return test.startsWith(source.split('/').slice(0, 2).join('/')) ? 1 : 0
}
