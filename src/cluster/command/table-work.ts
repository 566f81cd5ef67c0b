import { setTimeout as sleep } from 'node:timers/promises'
import { openProgress } from '../../command/terminal/progress.ts'
import type { CommandContext } from '../../command/terminal/command-context.ts'
import { CommandError } from '../../command/terminal/command-error.ts'
import { StoreError } from '../../log/store/store.ts'
import { TableError } from '../table/log-table.ts'

/** Context of a command's work on a table. */
type TableWork = Readonly<{
  nowMs(): number
  monotonicMs(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  signal: AbortSignal
  /** Shows the number of rows so far. */
  onProgress(rows: number): void
}>

/** Runs a command's work on the table of a log, with its progress. Throws a CommandError that says what is wrong. */
export async function workOnTable<T>(
  verb: string,
  context: CommandContext,
  work: (of: TableWork) => T | Promise<T>,
): Promise<T> {
  const progress = openProgress(verb, 'rows', context)
  try {
    return await work({
      nowMs: context.now,
      monotonicMs: context.monotonicMs,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      signal: context.stop,
      onProgress: (rows) => progress.at(rows, rows),
    })
  } catch (cause) {
    if (cause instanceof TableError || cause instanceof StoreError)
      throw new CommandError(cause.message, { cause })
    throw cause
  } finally {
    progress.end()
  }
}
