import type { Writable } from 'node:stream'
import { LockedError, lockDirectory } from '../../log/store/lock.ts'
import { StoreError } from '../../log/store/store.ts'
import type { Ms } from '../../protocol/moment.ts'

/** What a command may use of the process around it; `main.ts` makes it and nothing else reads these. */
export type World = Readonly<{
  now(): Ms
  monotonicMs(): number
  /** From 0 inclusive to 1 exclusive. */
  random(): number
  /** Data goes here, everything else to `stderr`. */
  stdout: Writable
  stderr: Writable
  /** Whether `stderr` is a terminal on which a progress bar makes sense. */
  interactive: boolean
  /** Whether `stdout` is a terminal that takes signs and colours. */
  drawn?: boolean
  /** How many columns the terminal has that `stdout` is; null when it is none. */
  columns?(): number | null
  /** How many files a process may have open here; null where that cannot be known. */
  openFilesMax?(): number | null
  /** Whether several threads can listen on one port (`SO_REUSEPORT` that spreads connections: Linux). */
  sharesPorts: boolean
  /** Whether the system keeps others from a file by its mode (not Windows). */
  hasFileModes: boolean
  /** Aborted by SIGINT or SIGTERM. */
  stop: AbortSignal
}>

/** The process ends with it: done, found wrong or failed, bad usage. */
export type ExitCode = 0 | 1 | 2

/** A command cannot go on for a reason that its user can mend; its message is all that is shown. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/**
 * Why the world outside failed (a file, an address, the store), in one line for the person at the terminal;
 * undefined for a failure of our own, which is told with its stack.
 */
export function outsideReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof LockedError || error instanceof StoreError) return error.message
  if ('syscall' in error) return error.message
  if ('code' in error && error.code === 'ERR_SQLITE_ERROR')
    return `the store cannot be used: ${error.message}`
  return undefined
}

/** One line for the person at the terminal. */
export function tell(world: World, line: string): void {
  world.stderr.write(`${line}\n`)
}

/** Takes a data directory for this process, or says who has it. */
export function takeDirectory(data: string): Disposable {
  try {
    return lockDirectory(data)
  } catch (error) {
    if (error instanceof LockedError) throw new CommandError(1, `${data}: ${error.message}`, { cause: error })
    throw error
  }
}
