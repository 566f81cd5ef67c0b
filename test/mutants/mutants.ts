import { parseArgs } from 'node:util'
import { useMemoryFolder } from '../processes/memory-folder.ts'
import { LISTED_MUTANTS } from './listed-mutants.ts'
import { locate } from './mutant.ts'
import { judgementsOf, runMutants } from './run-mutants.ts'

/** `npm run mutants`: applies the listed mutants one after another, and runs the tests that must find each. */
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    jobs: { type: 'string', default: '2' },
    again: { type: 'boolean', default: false },
  },
})
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
useMemoryFolder()
const STATE = '.daybook-mutants'
const tell = (line: string): void => void process.stdout.write(`${line}\n`)
const listed = LISTED_MUTANTS.filter(({ id }) => values.only.length === 0 || values.only.includes(id))
const settings = { state: STATE, run: 'listed', jobs: Number(values.jobs), tell, stop: stop.signal }
const candidates = listed.map((row) => ({
  mutant: locate(row),
  tests: () => row.tests.map((file) => ({ file, seconds: 5 })),
}))
await runMutants(settings, candidates, { again: values.again, judged: () => undefined }).catch(
  (error: unknown) => {
    if (stop.signal.aborted) return
    // Ends the tests that still run.
    stop.abort()
    throw error
  },
)
const judgements = judgementsOf(STATE, 'listed')
const alive = listed.filter(({ id }) => !['killed', 'hung'].includes(judgements.get(id)?.verdict ?? ''))
for (const { id, promise } of alive) tell(`NOT KILLED ${id}: ${promise}`)
tell(`${listed.length - alive.length} of ${listed.length} listed mutants die`)
process.exitCode = alive.length > 0 ? 1 : 0
