import { errorMessage } from '../../protocol/error-reason.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { ExitCode, CommandContext } from '../terminal/command-context.ts'

/** A node that listens. `broken` resolves with the reason when it must stop by itself. */
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
 * Waits for a signal or for the first failure, and ends the node with its log lines. `work` runs beside the node until its
 * end: it gets a signal, and its failure ends the node. Does not wait beyond the headroom for a node that does not end:
 * the exit code is then 1, and the caller ends the process with what is still open.
 */
export async function runToEnd(
  node: RunningNode,
  { context, lines, drainMs, headroomMs = STOP_HEADROOM_MS }: EndSettings,
  work: (stop: AbortSignal) => Promise<void> = async () => {},
): Promise<ExitCode> {
  const ended = new AbortController()
  const working = work(ended.signal)
  const failed = working.then(() => new Promise<never>(() => {}), errorMessage)
  const reason = await Promise.race([stopped(context.stop), node.broken, failed])
  const stoppedMs = context.monotonicMs()
  ended.abort()
  const end = async (): Promise<void> => {
    await working.catch(() => undefined)
    if (reason === undefined) lines.say('stopping', { drainMs })
    else lines.say('broken', { reason })
    await node[Symbol.asyncDispose]()
  }
  const inTime = await endsWithin(drainMs + headroomMs, end())
  // The end syncs files, which may fail too.
  const late = reason ?? (await Promise.race([node.broken, Promise.resolve()]))
  if (reason === undefined && late !== undefined) lines.say('broken', { reason: late })
  lines.flush()
  lines.say(inTime ? 'stopped' : 'stop-cut', { ms: Math.round(context.monotonicMs() - stoppedMs) })
  return late === undefined && inTime ? 0 : 1
}

/** Whether the end comes within so many milliseconds. Waiting for it keeps no process alive. */
async function endsWithin(ms: number, end: Promise<void>): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const limit = setTimeout(() => late.resolve(false), ms)
  limit.unref()
  try {
    return await Promise.race([end.then(() => true), late.promise])
  } finally {
    clearTimeout(limit)
  }
}

function stopped(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
