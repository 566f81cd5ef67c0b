import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathOf } from './test-needs.ts'

/** A slow machine needs a while: brokers that were just started elect leaders several times before they agree. */
const READY_MS = 60_000
const LOOK_MS = 50
const TIED = pathOf('setpriv') === undefined ? [] : ['setpriv', '--pdeathsig', 'KILL']

/** Starts a program that ends with this process, even when that is killed. */
export function spawnTied(
  program: string,
  words: readonly string[],
  options: Pick<SpawnOptions, 'stdio' | 'env' | 'cwd' | 'uid' | 'gid'>,
): ChildProcess {
  const [first = program, ...rest] = [...TIED, program, ...words]
  return spawn(first, rest, options)
}

/** Whether a program has not ended yet. */
export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}

/** Sends a signal to a program that still runs, and waits for its end. */
export async function endProgram(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (!isRunning(child)) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** Waits until the condition holds. A condition that throws does not hold yet. */
export async function until(
  what: string,
  holds: () => Promise<boolean>,
  limitMs: number = READY_MS,
): Promise<void> {
  const endMs = performance.now() + limitMs
  let last: unknown
  while (performance.now() < endMs) {
    try {
      if (await holds()) return
    } catch (error) {
      last = error
    }
    await sleep(LOOK_MS)
  }
  throw new Error(`waited in vain until ${what}`, { cause: last })
}
