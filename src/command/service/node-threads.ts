import { randomBytes } from 'node:crypto'
import type { Registry } from 'prom-client'
import type { ParquetFiles } from '../../serve/archive/parquet-reply.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { connectionLimit } from './connection-limit.ts'
import { allocateFront, type FrontMemory } from './front-memory.ts'
import { type FrontThreads, startFrontThreads } from './front-threads.ts'
import { type Front, type FrontSettings, openFront } from './front.ts'
import { orTaken } from './taken-port.ts'
import { openHeadCell } from '../../log/head-cell.ts'

/** Settings of the serving threads of a node. */
export type NodeSettings = Omit<FrontSettings, 'reusePort' | 'connectionsMax'> &
  Readonly<{
    /** Requests of one caller in any 60 s; null = no limit. */
    rateLimit: number | null
    /** Number of serving threads, including the main thread. */
    workers: number
  }>

/** Number of serving threads, settings of each, and the memory that they share. */
type ThreadPlan = Readonly<{
  workers: number
  shared: Omit<FrontSettings, 'reusePort'>
  memory: FrontMemory
}>

/** Plans the serving threads of a node. */
export function planThreads(settings: NodeSettings, context: CommandContext, lines: LogLines): ThreadPlan {
  const workers = context.sharesPorts ? settings.workers : 1
  if (workers < settings.workers) lines.say('one-thread', {})
  const each = connectionsOf(settings, workers, context, lines)
  const secret = randomBytes(16).toString('hex')
  const limits = { ...settings, connectionsMax: each * workers }
  const memory = allocateFront(openHeadCell().buffer, limits, secret)
  return { workers, shared: frontSettings(settings, each), memory }
}

/** Tools of the serving threads. */
type ThreadTools = Readonly<{
  context: CommandContext
  lines: LogLines
  registry: Registry
  parquet: ParquetFiles
  /** Called with the reason when a thread stops by itself. */
  broken(reason: string): void
}>

/** Starts the listener of the main thread, before any other thread takes the port. */
export async function openMainFront(
  { workers, shared, memory }: ThreadPlan,
  { context, lines, registry, parquet }: Omit<ThreadTools, 'broken'>,
): Promise<Front> {
  const opening = openFront({ ...shared, reusePort: workers > 1 }, memory, {
    context,
    lines,
    registry,
    parquet,
  })
  return await orTaken('--port', opening)
}

/** Starts the other serving threads on the port of the main thread. */
export async function startThreads(
  { workers, shared, memory }: ThreadPlan,
  front: Front,
  tools: Pick<ThreadTools, 'lines' | 'parquet' | 'broken'>,
): Promise<FrontThreads> {
  const others = { ...shared, port: front.port, reusePort: true }
  const settings = { settings: others, memory, lineChoice: tools.lines.choice() }
  return await startFrontThreads(workers - 1, settings, tools)
}

/**
 * Ends the streams of all threads at the same time. All threads answer idle connections until the last stream has
 * ended.
 */
export async function drainThreads(front: Front, threads: FrontThreads): Promise<void> {
  const quiet = Promise.all([front.endStreams(), threads.endStreams()]).then(() => undefined)
  await Promise.all([front.drain(quiet), threads.drain(quiet)])
}

/** Settings of a front, structured-cloneable for another thread. */
function frontSettings(settings: NodeSettings, connectionsMax: number): Omit<FrontSettings, 'reusePort'> {
  const { data, host, port, trustProxy, streamsMax, drainMs, site, publicUrl } = settings
  const { asksChain, following, mirrorOf, streamLimits } = settings
  return {
    asksChain,
    following,
    mirrorOf,
    data,
    host,
    port,
    trustProxy,
    streamsMax,
    drainMs,
    publicUrl: publicUrl ?? null,
    connectionsMax,
    ...(site === undefined ? {} : { site }),
    ...(streamLimits === undefined ? {} : { streamLimits }),
  }
}

/** Connections of each serving thread. Warns if open files are too few for all of them. */
function connectionsOf(
  { streamsMax }: NodeSettings,
  threads: number,
  context: CommandContext,
  lines: LogLines,
): number {
  const openFiles = context.openFilesMax?.() ?? null
  const { each, wanted } = connectionLimit(openFiles, streamsMax, threads)
  if (each * threads < wanted) {
    lines.say('few-files', { openFiles: openFiles ?? 0, connectionsMax: each, wanted, threads })
  }
  return each
}
