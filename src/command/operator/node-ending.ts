import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from '../../protocol/error-reason.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { ExitCode, CommandContext } from '../terminal/command-context.ts'

/** Listening node. `broken` resolves with the reason when it must stop by itself. */
type RunningNode = AsyncDisposable & Readonly<{ broken: Promise<string> }>

/** Milliseconds of a stop beyond the drain. With the default of `--drain`, a stop takes 60 s at most. */
export const STOP_HEADROOM_MS = 50_000

type EndSettings = Readonly<{
  context: CommandContext
  lines: LogLines
  drainMs: number
  /** Milliseconds of the end beyond the drain; `STOP_HEADROOM_MS` if absent. */
  headroomMs?: number
}>

/**
 * Waits for a signal or for the first failure, and ends the node with its log lines. `work` runs beside the node until
 * its end: it gets a signal, and its failure ends the node. Waits no longer than the headroom for the node to end.
 * After that the exit code is 1, and the caller must end the process.
 */
export async function runToEnd(
  node: RunningNode,
  { context, lines, drainMs, headroomMs = STOP_HEADROOM_MS }: EndSettings,
  work: (stop: AbortSignal) => Promise<void> = async () => {},
): Promise<ExitCode> {
  const ended = new AbortController()
  const working = work(ended.signal)
  const failed = working.then(() => new Promise<never>(() => {}), errorMessage)
  const stopped = context.stop.aborted ? Promise.resolve() : once(context.stop, 'abort').then(() => undefined)
  const reason = await Promise.race([stopped, node.broken, failed])
  const stoppedMs = context.monotonicMs()
  ended.abort()
  const end = async (): Promise<void> => {
    await working.catch(() => undefined)
    if (reason === undefined) lines.say('stopping', { drainMs })
    else lines.say('broken', { reason })
    await node[Symbol.asyncDispose]()
  }
  // The wait keeps no process alive.
  const late = sleep(drainMs + headroomMs, false, { ref: false })
  const inTime = await Promise.race([end().then(() => true), late])
  // The end syncs files, which may fail too.
  const fault = reason ?? (await Promise.race([node.broken, Promise.resolve()]))
  if (reason === undefined && fault !== undefined) lines.say('broken', { reason: fault })
  lines.flush()
  lines.say(inTime ? 'stopped' : 'stop-cut', { ms: Math.round(context.monotonicMs() - stoppedMs) })
  return fault === undefined && inTime ? 0 : 1
}
