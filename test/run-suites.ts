import { globSync, mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { openEgressScan } from './processes/egress-report.ts'
import { useTemporaryFolder } from './processes/temporary-folder.ts'
import { openSharedBrowser } from './stage/browser.ts'
import { hasNewer, missingPackages } from './processes/test-needs.ts'
import { unfinishedTests } from './processes/unfinished-tests.ts'
import { ROOT } from './stage/places.ts'
import skips from './stage/skips-reporter.ts'

/**
 * Runs test files and prints the report of the test runner: `quick` runs `*.test.ts`, which need nothing but Node, and
 * `slow` runs `*.slow.test.ts`, which may need a browser, other programs, load or time. With `--scan`, everything that a
 * public listener sends is searched for wallet addresses.
 */
const WORDS = process.argv.slice(2)
const isSlow = WORDS.includes('slow')
/** Quick files that share a process: loading the same modules again would take a third of the time. */
const FILES_PER_PROCESS = 30
/** Time limit of a test, on a busy machine. */
const TEST_MS_MAX = isSlow ? 420_000 : 120_000
/** Longest silence. A process that hangs, or that something keeps open after its tests, has no other limit. */
const SILENCE_MS_MAX = TEST_MS_MAX + 60_000
/** Processes at a time for each core: a test often waits. With two, a sixth of each core was idle. */
const PROCESSES_PER_CORE = 2.5
/** Processes at most: some start a database. */
const PROCESSES_MAX = 16

if (!WORDS.every((word) => ['quick', 'slow', '--scan'].includes(word)))
  throw new Error('give quick, slow or both, and --scan if you want')
const files = globSync('{sim,src,test}/**/*.test.ts', { cwd: ROOT })
  .filter((path) => WORDS.includes(isSlowFile(path) ? 'slow' : 'quick'))
  // Those of `test` first: the long ones are among them, and none of them may come last and run alone.
  .toSorted((a, b) => Number(a.startsWith('src/')) - Number(b.startsWith('src/')) || (a < b ? -1 : 1))
  .map((path) => join(ROOT, path))
// A run of nothing proves nothing.
if (files.length === 0) throw new Error('no test file is selected')

useTemporaryFolder()
// The tests start some hundred processes from the same sources: they share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules', '.cache', 'node')
const scan = WORDS.includes('--scan') ? openEgressScan() : undefined
if (scan !== undefined) process.env['NODE_OPTIONS'] = scan.nodeOptions
await using _browser = isSlow ? await openSharedBrowser() : undefined

const stop = new AbortController()
// A signal may come twice, such as from the terminal and from npm. The second one must not end the run before its report.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
const groups = inGroups(files.filter((path) => !isSlowFile(path)))
const report = run({
  files: [...groups.keys(), ...files.filter(isSlowFile)],
  execArgv: ['--import', pathToFileURL(join(ROOT, 'test/processes/untracked-promises.ts')).href],
  concurrency: Math.min(PROCESSES_MAX, Math.floor(PROCESSES_PER_CORE * availableParallelism())),
  timeout: TEST_MS_MAX,
  signal: stop.signal,
})
const silence = setTimeout(() => stop.abort(), SILENCE_MS_MAX).unref()
for (const event of ['test:dequeue', 'test:pass', 'test:fail'] as const)
  report.on(event, () => silence.refresh())
const broken: (readonly string[])[] = []
report.on('test:fail', ({ name }) => {
  process.exitCode = 1
  const lost = groups.get(name)
  if (lost !== undefined) broken.push(lost)
})
const tell = (line: string): boolean => process.stdout.write(`${line}\n`)
await Promise.all(
  [report.compose(new spec()), report.compose(skips), report.compose(unfinishedTests)].map((lines) =>
    pipeline(lines, process.stdout, { end: false }),
  ),
)
for (const lost of broken)
  tell(
    `a process ended early. This runs each of its files in its own: node_modules/.bin/node --test ${lost.join(' ')}`,
  )
if (isSlow) {
  for (const [name, lacks] of missingPackages()) tell(`lacks ${lacks.join(', ')}: apt-get install ${name}`)
  if (!hasNewer()) tell('lacks programs of a newer Debian: .ci/newer-packages')
}
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

/** Modules that each import some of the files, so that these share a process. Returns the files of each. */
function inGroups(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-groups-'))
  const count = Math.ceil(paths.length / FILES_PER_PROCESS)
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const group = join(folder, `${index}.mjs`)
      const part = paths.slice(index * FILES_PER_PROCESS, (index + 1) * FILES_PER_PROCESS)
      const imported = [join(ROOT, 'test/processes/early-exit.ts'), ...part]
      writeFileSync(
        group,
        imported.map((path) => `import ${JSON.stringify(pathToFileURL(path).href)}\n`).join(''),
      )
      return [group, part.map((path) => relative(ROOT, path))]
    }),
  )
}
