import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockDirectory, LockedError } from '../../log/store/lock.ts'
import type { Ms } from '../../protocol/moment.ts'
import { CommandError } from './command-error.ts'

export { outsideReason } from '../../log/outside-reason.ts'

/** Clock, output and other parts of the process that a command may use. Only `main.ts` makes it. */
export type CommandContext = Readonly<{
  now(): Ms
  monotonicMs(): number
  /** From 0 inclusive to 1 exclusive. */
  random(): number
  /** The user's command for this program, for commands in messages. */
  program: string
  /** Takes the command's data; everything else goes to `stderr`. */
  stdout: Writable
  stderr: Writable
  /** Whether `stderr` is a terminal, which can show a progress bar. */
  interactive: boolean
  /** Whether `stdout` is a terminal that shows colours and symbols. */
  drawn?: boolean
  /** Columns of the terminal; null when `stdout` is not a terminal. */
  columns?(): number | null
  /** Limit of open files of the process; null where the system does not report it. */
  openFilesMax?(): number | null
  /** Whether several threads can listen on one port (`SO_REUSEPORT` that spreads connections: Linux). */
  sharesPorts: boolean
  /** Whether file modes protect a file from other users (not on Windows). */
  hasFileModes: boolean
  /** Whether the process is of root, who may write to the files of every user. */
  isRoot: boolean
  /** Aborted by SIGINT or SIGTERM. */
  stop: AbortSignal
}>

/** Exit code of the process: 0 done, 1 something is wrong or failed, 2 bad usage. */
export type ExitCode = 0 | 1 | 2

/** Writes one line to standard error. */
export function printNotice(context: CommandContext, line: string): void {
  context.stderr.write(`${line}\n`)
}

/** Locks a data directory for this process. Throws a CommandError when another process has it. */
export function takeDirectory(data: string): Disposable {
  try {
    return lockDirectory(data)
  } catch (error) {
    throw error instanceof LockedError ? directoryInUse(data, error) : error
  }
}

/** Error of a command whose data directory is locked by another process. */
export function directoryInUse(data: string, cause: LockedError): CommandError {
  const action = 'stop it, or choose another folder with --data'
  return new CommandError(`${data}: ${cause.message}: ${action}`, { cause })
}

/** Waits, unless or until the command is stopped. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined)
}
