import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as setTimeoutLater } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../stage/places.ts'
import type { MutantOrder } from './mutant-hook.ts'
import type { Mutant } from './mutant.ts'

/** Outcome of one test file. `late` means that it did not end in time. */
type TestRun = Readonly<{
  outcome: 'passed' | 'failed' | 'late'
  seconds: number
  /** Seconds of processor time, if the test ended by itself. They depend little on what else the machine does. */
  processorSeconds: number
  /** True when a process or thread of the test loaded the mutated module. */
  loaded: boolean
  /** Name of the first test that failed, or what the process said last. */
  told: string
}>

const HOOK = pathToFileURL(join(ROOT, 'test/mutants/mutant-hook.ts')).href
/** Heap of each process: a mutant may collect without end. */
const HEAP_MIB_MAX = 1_500
/** Size of a file that a test writes, in KiB: a mutant may write without end. */
const FILE_KIB_MAX = 2 * 1_024 * 1_024
/** Wait for the rest of the output. */
const CLOSE_MS_MAX = 1_000
const TOLD_CHARACTERS = 200

/**
 * Runs a test file with a mutant, or without one, and ends at its first failure. Its processes form a group, which is
 * killed at the end, and its temporary files are removed.
 */
export async function runTestFile(
  file: string,
  mutant: Mutant | undefined,
  { msMax, coverage, stop }: Readonly<{ msMax: number; coverage?: string; stop: AbortSignal }>,
): Promise<TestRun> {
  const temporary = mkdtempSync(join(tmpdir(), 'daybook-mutant-'))
  const seen = join(temporary, 'seen')
  const times = join(temporary, 'times')
  for (const path of [seen, times]) writeFileSync(path, '')
  const begun = performance.now()
  try {
    const { failed, code, said, late } = await runToFailure(
      file,
      environmentOf(mutant, temporary, seen, coverage),
      {
        msMax,
        stop,
      },
    )
    const reports = readFileSync(seen, 'utf8')
    assert.ok(!reports.includes('not found'), `${mutant?.id ?? ''}: its module changed during the run`)
    const outcome = failed !== undefined ? 'failed' : late ? 'late' : code === 0 ? 'passed' : 'failed'
    const seconds = (performance.now() - begun) / 1_000
    const processorSeconds = sumOfTimes(readFileSync(times, 'utf8'))
    return {
      outcome,
      seconds,
      processorSeconds,
      loaded: reports !== '',
      told: (failed ?? said.trim()).slice(-TOLD_CHARACTERS),
    }
  } finally {
    removeLater(temporary)
  }
}

/** Removes a folder. A process that left the group may still write to it: then its rest goes with the folder around it. */
export function removeLater(folder: string): void {
  try {
    // A test that was killed leaves the disks that it mounted.
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
    for (const [, place = ''] of mounts.map((line) => line.split(' ')))
      if (place.startsWith(`${folder}/`)) execFileSync('umount', ['-l', place])
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // Nothing depends on it.
  }
}

function environmentOf(
  mutant: Mutant | undefined,
  temporary: string,
  seen: string,
  coverage: string | undefined,
): NodeJS.ProcessEnv {
  // A test runner inside a test would report to the outer one.
  const { NODE_TEST_CONTEXT: _outer, NODE_V8_COVERAGE: _other, DAYBOOK_CAMPAIGN: _size, ...own } = process.env
  const order = mutant && orderOf(mutant, seen)
  return {
    ...own,
    TMPDIR: temporary,
    TEST_TIMES: join(temporary, 'times'),
    NODE_OPTIONS: `--import=${HOOK} --max-old-space-size=${HEAP_MIB_MAX}`,
    ...(order ? { TEST_MUTANT: JSON.stringify(order) } : {}),
    ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage }),
  }
}

function orderOf({ file, start, from, to }: Mutant, seen: string): MutantOrder {
  return { url: pathToFileURL(join(ROOT, file)).href, start, from, to, seen }
}

/** Sum of what the shell's `times` prints: user and system time of the shell, and of all that it waited for. */
export function sumOfTimes(text: string): number {
  return [...text.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  )
}

async function runToFailure(
  file: string,
  env: NodeJS.ProcessEnv,
  { msMax, stop }: Readonly<{ msMax: number; stop: AbortSignal }>,
): Promise<{ failed: string | undefined; code: number | null; said: string; late: boolean }> {
  const command = `ulimit -f ${2 * FILE_KIB_MAX}; "$0" "$@"; code=$?; times >"$TEST_TIMES"; exit $code`
  const child = spawn('/bin/sh', ['-c', command, process.execPath, '--test-reporter=tap', file], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [failed, said, line, late] = [undefined as string | undefined, '', '', false]
  const kill = (): void => killGroup(child.pid)
  const timer = setTimeout(() => {
    late = true
    kill()
  }, msMax)
  stop.addEventListener('abort', kill, { once: true })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${line}${text}`.split('\n')
    line = lines.pop() ?? ''
    for (const each of lines) {
      said = each.trim() === '' ? said : each
      if (failed !== undefined || !/^\s*not ok /.test(each) || /# (?:SKIP|TODO)/.test(each)) continue
      failed = each.trim().replace(/^not ok \d+ - /, '')
      kill()
    }
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = text))
  const closed = once(child, 'close')
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  stop.removeEventListener('abort', kill)
  // Processes that outlive the test hold its output open. Those that left the group are not waited for.
  kill()
  await Promise.race([closed, setTimeoutLater(CLOSE_MS_MAX, undefined, { ref: false })])
  child.stdout.destroy()
  child.stderr.destroy()
  stop.throwIfAborted()
  return { failed, code, said, late }
}

/** Kills a process and all those that it started in its group. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended by itself.
  }
}
