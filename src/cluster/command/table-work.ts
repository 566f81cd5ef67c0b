import { setTimeout as sleep } from 'node:timers/promises'
import { openProgress } from '../../command/terminal/progress.ts'
import { CommandError, type World } from '../../command/terminal/world.ts'
import { StoreError } from '../../log/store/store.ts'
import { TableError } from '../table/log-table.ts'

/** Surroundings of the work of a command on a table. */
type TableWork = Readonly<{
  nowMs(): number
  monotonicMs(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  signal: AbortSignal
  /** Shows the number of rows so far. */
  onProgress(rows: number): void
}>

/** Runs the work of a command on the table of a log, with its progress. Throws a CommandError that says what is wrong. */
export async function workOnTable<T>(
  verb: string,
  world: World,
  work: (of: TableWork) => T | Promise<T>,
): Promise<T> {
  const progress = openProgress(verb, 'rows', world)
  try {
    return await work({
      nowMs: world.now,
      monotonicMs: world.monotonicMs,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      signal: world.stop,
      onProgress: (rows) => progress.at(rows, rows),
    })
  } catch (cause) {
    if (cause instanceof TableError || cause instanceof StoreError)
      throw new CommandError(1, cause.message, { cause })
    throw cause
  } finally {
    progress.end()
  }
}
