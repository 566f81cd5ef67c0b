import { globSync, mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { openEgressScan } from './processes/egress-report.ts'
import { useMemoryFolder } from './processes/memory-folder.ts'
import { openSharedBrowser } from './stage/browser.ts'
import { missingPackages } from './processes/test-needs.ts'
import { ROOT } from './stage/places.ts'
import skips from './stage/skips-reporter.ts'

/**
 * Runs test files and prints the report of the test runner: `quick` runs `*.test.ts`, which need nothing but Node, and
 * `slow` runs `*.slow.test.ts`, which may need a browser, other programs, load or time. With `--scan`, everything that a
 * public listener sends is searched for wallet addresses.
 */
const WORDS = process.argv.slice(2)
/** Quick files that share a process: loading the same modules again would take a third of the time. */
const FILES_PER_PROCESS = 20
/** Time limit of a process of tests. */
const TIMEOUT_MS = 420_000
/** Processes at a time for each core: a test often waits for a timer or for another process. */
const PROCESSES_PER_CORE = 2
/** Processes at most: some start a database. */
const PROCESSES_MAX = 16

const isSlow = WORDS.includes('slow')
const files = globSync('{sim,src,test}/**/*.test.ts', { cwd: ROOT })
  .filter((path) => WORDS.includes(isSlowFile(path) ? 'slow' : 'quick'))
  // Those of `test` first: the long ones are among them, and none of them may come last and run alone.
  .toSorted((a, b) => Number(a.startsWith('src/')) - Number(b.startsWith('src/')) || (a < b ? -1 : 1))
  .map((path) => join(ROOT, path))

useMemoryFolder()
// The tests start some hundred processes from the same sources: they share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules', '.cache', 'node')
const scan = WORDS.includes('--scan') ? openEgressScan() : undefined
if (scan !== undefined) process.env['NODE_OPTIONS'] = scan.nodeOptions
await using _browser = isSlow ? await openSharedBrowser() : undefined

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
const report = run({
  files: [...inGroups(files.filter((path) => !isSlowFile(path))), ...files.filter(isSlowFile)],
  concurrency: Math.min(PROCESSES_MAX, PROCESSES_PER_CORE * availableParallelism()),
  timeout: TIMEOUT_MS,
  signal: stop.signal,
})
report.on('test:fail', () => (process.exitCode = 1))
const tell = (line: string): boolean => process.stdout.write(`${line}\n`)
await Promise.all(
  [report.compose(new spec()), report.compose(skips)].map((lines) =>
    pipeline(lines, process.stdout, { end: false }),
  ),
)
if (isSlow)
  for (const [name, lacks] of missingPackages()) tell(`lacks ${lacks.join(', ')}: apt-get install ${name}`)
if (scan !== undefined) {
  const { bytes, findings } = scan.read()
  tell(`${bytes} bytes of public answers hold ${findings.length} wallet addresses`)
  for (const finding of findings) tell(finding)
  // A scan of nothing proves nothing.
  if (bytes === 0 || findings.length > 0) process.exitCode = 1
  scan.close()
}

function isSlowFile(path: string): boolean {
  return path.endsWith('.slow.test.ts')
}

/** Modules that each import some of the files, so that these share a process. */
function inGroups(paths: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-groups-'))
  const count = Math.ceil(paths.length / FILES_PER_PROCESS)
  return Array.from({ length: count }, (_, index) => {
    const group = join(folder, `${index}.mjs`)
    const part = paths.slice(index * FILES_PER_PROCESS, (index + 1) * FILES_PER_PROCESS)
    writeFileSync(group, part.map((path) => `import ${JSON.stringify(pathToFileURL(path).href)}\n`).join(''))
    return group
  })
}
