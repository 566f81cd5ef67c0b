import type { Registry } from 'prom-client'
import type { Status } from '../../protocol/resources.ts'
import type { LogLines } from '../log-lines/log-lines.ts'

// The port of the service to an option that lets other machines carry the log. Its other half is in the writer's thread
// (`publish/door/carried-log.ts`).

/** Machines that carry the log, as an option chooses them. */
export type LogCarrier = Readonly<{
  /** Module of the writer's thread, which calls `runWriter`. */
  thread: URL
  /** Its settings (`WriterSettings.carrier`), which can be passed between threads. */
  settings: object
  /** Registers metrics. Returns the receiver of the news of that thread. */
  hear(tools: CarrierTools): CarrierHearing
}>

/** Receiver of what the thread passes to `CarriedWorld.tell`. */
type CarrierHearing = Readonly<{ told(news: object): void }>

/** Metrics and log lines of the node, and what its serving threads show. */
export type CarrierTools = Readonly<{
  registry: Registry
  lines: LogLines
  monotonicMs(): number
  /** Tells the serving threads whether this node leads, and how far it is behind. */
  show(following: Status['following']): void
}>
