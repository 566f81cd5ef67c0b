import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { openEgressScan } from './processes/egress-report.ts'
import { useMemoryFolder } from './processes/memory-folder.ts'
import skips from './stage/skips-reporter.ts'

/**
 * Runs the files of some patterns, in the order of the patterns, and prints the report of the test runner. The last
 * lines are its summary. `node --test` would sort the files, so that a long one could come last and run alone.
 */
const PATTERNS = process.argv.slice(2).filter((word) => word !== '--scan')
/** With `--scan`, everything that a public listener sends is searched for wallet addresses. */
const SCANS = process.argv.includes('--scan')
/** Time limit of a test. The operation of a log on an engine needs four minutes on a slow machine. */
const TIMEOUT_MS = 420_000
/** Processes at a time for each core: a test often waits for another process. With two, a fifth of each core was idle. */
const FILES_PER_CORE = 2.5
/** Processes at most: some start a browser. */
const FILES_MAX = 16

useMemoryFolder()
// The tests start some hundred processes from the same sources: they share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'node')

const scan = SCANS ? openEgressScan() : undefined
if (scan !== undefined) process.env['NODE_OPTIONS'] = scan.nodeOptions

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
const report = run({
  files: PATTERNS.flatMap((pattern) => globSync(pattern).toSorted()),
  concurrency: Math.min(FILES_MAX, Math.floor(FILES_PER_CORE * availableParallelism())),
  timeout: TIMEOUT_MS,
  signal: stop.signal,
})
report.on('test:fail', () => (process.exitCode = 1))
report.compose(new spec()).pipe(process.stdout)
report.compose(skips).pipe(process.stdout)
if (scan !== undefined)
  report.on('end', () => {
    const { bytes, findings } = scan.read()
    process.stdout.write(`${bytes} bytes of public answers hold ${findings.length} wallet addresses\n`)
    for (const finding of findings) process.stdout.write(`${finding}\n`)
    // A scan of nothing proves nothing.
    if (bytes === 0 || findings.length > 0) process.exitCode = 1
    scan.close()
  })
