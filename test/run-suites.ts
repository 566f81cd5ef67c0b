import { chmodSync, globSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import skips from './stage/skips-reporter.ts'

/**
 * Runs the files of some patterns, in the order of the patterns, and prints the report of the test runner. The last
 * lines are its summary. `node --test` would sort the files, so that a long one could come last and run alone.
 */
const PATTERNS = process.argv.slice(2)
/** Time limit of a file. The operation of a log on an engine needs more than a minute even alone. */
const TIMEOUT_MS = 240_000
/** Processes at a time for each core: a test often waits for another process. With two, a fifth of each core was idle. */
const FILES_PER_CORE = 2.5
/** Processes at most: some start a browser. */
const FILES_MAX = 16

/** File system in memory, on Linux. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 1024 ** 3

/** Makes a folder in memory for temporary files; undefined where memory is scarce. Tests that write then need half the time. */
function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (Math.min(bavail * bsize, freemem() / 2) < MEMORY_BYTES_MIN) return undefined
    const folder = mkdtempSync(join(MEMORY, 'daybook-tests-'))
    // Other users write here too, such as that of PostgreSQL.
    chmodSync(folder, 0o1777)
    return folder
  } catch {
    return undefined
  }
}

const folder = memoryFolder()
if (folder !== undefined) {
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}

// The tests start some hundred processes from the same sources: they share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'node')

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
