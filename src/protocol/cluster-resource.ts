/**
 * Reason why a writer of a log with several takes no drafts.
 *
 * - `starting`: it has not heard the engine or the other writers since its start or a change, or it lacks events that it
 *   has served.
 * - `engine`: the engine does not answer, or is not set up as it must be.
 * - `unsettled`: a message was sent to the engine, and its outcome is not known.
 * - `clock`: the clocks of this node and of the engine differ by 5 s or more.
 * - `disk`: the disk of this node is full or failed.
 * - `forked`: there is another message at a place that this node has served.
 * - `twin`: another running writer has its name or its node key, and started before it.
 * - `stopped`: a message does not continue the log, or the disk is broken.
 */
export const UNPUBLISHABLE = [
  'starting',
  'engine',
  'unsettled',
  'clock',
  'disk',
  'forked',
  'twin',
  'stopped',
] as const
export type Unpublishable = (typeof UNPUBLISHABLE)[number]

/**
 * Fault of another writer, which an operator mends. It shares its `name` or its node `key` with a running writer, or it runs
 * with other `settings`: another `--balances` or `--finality`.
 */
export const WRITER_FAULTS = ['name', 'key', 'settings'] as const
export type WriterFault = (typeof WRITER_FAULTS)[number]

/** Report of a writer of a log with several, about itself and the others. */
export type Cluster = Readonly<{
  /** Name of this writer (`--node-name`). */
  name: string
  /** Whether it does the work that no publisher asks for: it made the newest commit, or the others are silent. */
  leads: boolean
  /** Whether it takes drafts now. */
  publishing: boolean
  /** Reason why it takes none; null when it does. */
  reason: Unpublishable | null
  /** Commits of the whole log that this node has not applied. */
  lag: number
  /** The other writers, by name. */
  writers: readonly Readonly<{
    name: string
    /** Newest seq of its log, as it said last; null before it was heard. */
    seq: number | null
    /** When it was last heard, to the second; null before it was heard. */
    heardAt: string | null
    heardAtMs: number | null
    /** Whether it has said nothing for 20 s, or not since the start of this node. */
    silent: boolean
    fault: WriterFault | null
  }>[]
}>
