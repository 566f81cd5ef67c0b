import type { Surroundings } from '../client/surroundings.ts'
import type { Ms } from '../protocol/moment.ts'

/** Followed service, and the data directory of the mirror. The caller holds the lock of the directory. */
export type MirrorSettings = Readonly<{
  /** Origin of the followed service, such as `https://data.example.org`. */
  url: string
  dataDirectory: string
  /** Verifier keys that the operator knows. If empty, the keys that the log lists at first use are pinned. */
  vkeys: readonly string[]
  /** Whether to continue with a log that continues the mirrored one after a loss. */
  followFormer: boolean
  /** Version of this Daybook. Only the same version continues an interrupted build. */
  version: string
  /** Missing events from which month files are read instead of pages; 30,000 by default. */
  archiveEventsMin?: number
  /** The current moment. */
  now(): Ms
  /** Clock, timers, randomness and `fetch` that replace those of the runtime. */
  around: Partial<Surroundings>
}>

/** Progress of a first build, in events. `months`: from month files; `events`: from the open month and pages. */
export type MirrorProgress = Readonly<{
  stage: 'months' | 'events' | 'indexes' | 'proving'
  done: number
  /** Events that the origin has shown. */
  total: number
}>
