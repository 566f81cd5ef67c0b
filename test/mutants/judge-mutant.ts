import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../stage/places.ts'
import type { MutantOrder } from './mutant-hook.ts'

/** A bug of a few characters: the text at one place of a source replaced by another. */
export type Mutant = Readonly<{
  id: string
  /** Source of the product, as a path from the root. */
  file: string
  /** Place of the replaced text, in characters from the start of the file. */
  start: number
  from: string
  to: string
}>

/**
 * Judgement of a mutant: killed by a test that fails, or does not end although it ends without the mutant; survived every
 * test that was asked; or never reached, because no test loads its module.
 */
export type Judgement = Readonly<{
  id: string
  verdict: 'killed' | 'hung' | 'survived' | 'unreached'
  /** The test file that killed it, and its first failure. */
  by?: string
  told?: string
}>

/** Time limit of a test file. */
const TEST_MS_MAX = 90_000
/** Heap of each process: a mutant may collect without end. */
const HEAP_MIB_MAX = 1_500
/** Size of a file that a test writes, in blocks of 512 bytes: a mutant may write without end. */
const FILE_BLOCKS_MAX = 4 * 1_024 * 1_024
const TOLD_CHARACTERS = 200
const HOOK = pathToFileURL(join(ROOT, 'test/mutants/mutant-hook.ts')).href

/**
 * Runs test files in turn until one does not pass. A test that is late kills the mutant only if it is not late without it:
 * the machine may be busy.
 */
export async function judgeMutant(
  mutant: Mutant,
  tests: readonly string[],
  stop: AbortSignal,
  msMax: number = TEST_MS_MAX,
): Promise<Judgement> {
  const { id } = mutant
  let isReached = false
  for (const file of tests) {
    const run = await runTestFile(file, mutant, stop, msMax)
    isReached ||= run.isLoaded
    if (run.outcome === 'passed') continue
    if (run.outcome === 'late' && (await runTestFile(file, null, stop, msMax)).outcome === 'late') continue
    assert.ok(run.isLoaded, `${file} fails without the mutant: ${run.told}`)
    return { id, verdict: run.outcome === 'late' ? 'hung' : 'killed', by: file, told: run.told }
  }
  return { id, verdict: isReached ? 'survived' : 'unreached' }
}

/** Outcome of one test file. */
type TestRun = Readonly<{
  outcome: 'passed' | 'failed' | 'late'
  /** Whether a process or thread of the test loaded the mutated module. */
  isLoaded: boolean
  /** Name of the first test that failed, or what the process said last. */
  told: string
}>

/**
 * Runs a test file with a mutant, or without one, and ends at its first failure. Its processes form a group, which is
 * killed at the end, and its temporary files are removed.
 */
async function runTestFile(
  file: string,
  mutant: Mutant | null,
  stop: AbortSignal,
  msMax: number = TEST_MS_MAX,
): Promise<TestRun> {
  const temporary = mkdtempSync(join(tmpdir(), 'daybook-mutant-'))
  const seen = join(temporary, 'seen')
  writeFileSync(seen, '')
  // A test runner inside a test would report to the outer one.
  const { NODE_TEST_CONTEXT: _outer, DAYBOOK_CAMPAIGN: _size, ...own } = process.env
  const order: MutantOrder | null = mutant && {
    ...mutant,
    url: pathToFileURL(join(ROOT, mutant.file)).href,
    seen,
  }
  const env = {
    ...own,
    TMPDIR: temporary,
    NODE_OPTIONS: `--import=${HOOK} --max-old-space-size=${HEAP_MIB_MAX}`,
    ...(order === null ? {} : { TEST_MUTANT: JSON.stringify(order) }),
  }
  try {
    const run = await runToFailure(file, env, AbortSignal.any([stop, AbortSignal.timeout(msMax)]))
    stop.throwIfAborted()
    const loads = readFileSync(seen, 'utf8')
    assert.ok(!loads.includes('not found'), `${mutant?.id ?? ''}: its module changed during the run`)
    return { ...run, isLoaded: loads !== '' }
  } finally {
    remove(temporary)
  }
}

/** Removes a folder. A process that left the group may still write to it: then its rest goes with the folder around it. */
function remove(folder: string): void {
  try {
    // A test that was killed leaves the disks that it mounted.
    for (const [, place = ''] of readFileSync('/proc/self/mounts', 'utf8').matchAll(/^\S+ (\S+)/gm))
      if (place.startsWith(`${folder}/`)) execFileSync('umount', ['-l', place])
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // Nothing depends on it.
  }
}

async function runToFailure(
  file: string,
  env: NodeJS.ProcessEnv,
  limit: AbortSignal,
): Promise<Omit<TestRun, 'isLoaded'>> {
  const command = `ulimit -f ${FILE_BLOCKS_MAX}; exec "$0" "$@"`
  const child = spawn('/bin/sh', ['-c', command, process.execPath, '--test-reporter=tap', file], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = (): void => killGroup(child.pid)
  limit.addEventListener('abort', kill, { once: true })
  let [failed, said, rest] = [undefined as string | undefined, '', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      said = line.trim() === '' ? said : line
      if (failed !== undefined || !/^\s*not ok /.test(line) || /# (?:SKIP|TODO)/.test(line)) continue
      failed = line.trim().replace(/^not ok \d+ - /, '')
      kill()
    }
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = text))
  const [code] = (await once(child, 'exit')) as [number | null]
  limit.removeEventListener('abort', kill)
  // Processes that outlive the test would hold its output open.
  kill()
  child.stdout.destroy()
  child.stderr.destroy()
  const isLate = limit.aborted && failed === undefined
  const outcome = isLate ? 'late' : failed === undefined && code === 0 ? 'passed' : 'failed'
  return { outcome, told: (failed ?? said.trim()).slice(-TOLD_CHARACTERS) }
}

/** Kills a process and all those that it started in its group. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended by itself.
  }
}
