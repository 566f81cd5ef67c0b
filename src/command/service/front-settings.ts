import type { LogLines } from '../log-lines/log-lines.ts'
import type { Registry } from 'prom-client'
import type { StreamLimits } from '../../serve/stream/limits.ts'
import type { Site } from '../../web/markup/site.ts'
import type { CommandContext } from '../terminal/command-context.ts'

/** Settings of a serving thread; they may be passed between threads. */
export type FrontSettings = Readonly<{
  data: string
  host: string
  port: number
  /** Whether several threads listen on the same port. */
  reusePort: boolean
  /** CIDRs of the proxies whose X-Forwarded-For counts; empty for none. */
  trustProxy: string
  /** Whether the writer asks the blockchain about transactions. */
  asksChain: boolean
  /** Whether this node follows a log that others write too, so that it may be behind what its callers have seen. */
  following: boolean
  /** Public address of the service that this mirror follows; null on a node that is no mirror. */
  mirrorOf: string | null
  streamsMax: number
  /** Limits of streams in place of those of `STREAM_LIMITS`. */
  streamLimits?: Partial<StreamLimits>
  /** Milliseconds over which streams end at a stop. */
  drainMs: number
  /** Connections that this thread accepts. */
  connectionsMax: number
  /** The operator's texts for the site; `DEFAULT_SITE` if absent. */
  site?: Omit<Site, 'url'>
  /** Public address of the site; the listener's address if absent. */
  publicUrl?: string | null
}>

/** Tools of the thread that a front runs in. */
export type FrontTools = Readonly<{
  context: Pick<CommandContext, 'now' | 'monotonicMs' | 'random'>
  lines: LogLines
  registry: Registry
}>
