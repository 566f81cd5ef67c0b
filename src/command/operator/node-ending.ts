import type { LogLines } from '../log-lines/log-lines.ts'
import type { ExitCode, World } from '../terminal/world.ts'

/** A node that listens. `broken` resolves with the reason when it must stop by itself. */
type RunningNode = AsyncDisposable & Readonly<{ broken: Promise<string> }>

/**
 * Waits for a signal or for the first failure, and ends the node with its log lines. `work` runs beside the node until its
 * end: it gets a signal, and its failure ends the node.
 */
export async function runToEnd(
  node: RunningNode,
  { world, lines, drainMs }: Readonly<{ world: World; lines: LogLines; drainMs: number }>,
  work: (stop: AbortSignal) => Promise<void> = async () => {},
): Promise<ExitCode> {
  const ended = new AbortController()
  const working = work(ended.signal)
  const failed = working.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  const reason = await Promise.race([stopped(world.stop), node.broken, failed])
  const stoppedMs = world.monotonicMs()
  ended.abort()
  await working.catch(() => undefined)
  if (reason === undefined) lines.say('stopping', { drainMs })
  else lines.say('broken', { reason })
  await node[Symbol.asyncDispose]()
  lines.flush()
  lines.say('stopped', { ms: Math.round(world.monotonicMs() - stoppedMs) })
  return reason === undefined ? 0 : 1
}

function stopped(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
