/** Row of the table: one commit of the log, and its place: 1, 2, 3 and so on, without gaps. */
export type TableRow = Readonly<{ place: number; bytes: Uint8Array }>

/** Primary of PostgreSQL. The timeline grows with each promotion. */
export type PrimaryIdentity = Readonly<{ systemId: string; timeline: number }>

/** Result of one read of the table. */
export type Look = Readonly<{
  server: PrimaryIdentity
  /**
   * Rows from the requested place on, in order and without gaps. All are on the disks of the synchronous standbys. At
   * least one if the table has one, at most `LOOK_ROWS_MAX` and the requested bytes.
   */
  rows: readonly TableRow[]
  /** Newest visible place, which the standbys may not have yet; 0 for an empty table. */
  last: number
  /**
   * Whether the standbys have flushed a position that was read after `last`. This proves that the server is the current
   * primary: a replaced primary also answers, but has no standby.
   */
  isProved: boolean
  /** Whether any session holds the lock. */
  isLed: boolean
  /** Highest place that another connected node shows; 0 when none is connected. */
  shown: number
}>

/**
 * Answer of one attempt to append.
 *
 * - `appended`: the row is at exactly this place, and on the disks of the synchronous standbys.
 * - `refused`: this attempt inserted nothing and never will: the session does not lead.
 * - `unknown`: the row may be there, or may still arrive.
 */
export type AppendAnswer = 'appended' | 'refused' | 'unknown'

/** Difference between the clock of the database and ours, in milliseconds. */
type ClockOffset = Readonly<{
  /** The database's clock minus ours. */
  offsetMs: number
  /** Largest error of the offset in either direction: half the round trip of the query. */
  errorMs: number
}>

/** Table of the log in the operator's database. It reconnects by itself until it is disposed of. */
export type LogTable = AsyncDisposable &
  Readonly<{
    /**
     * Reads the table from a place on, and shows other nodes `applied` as the place of this one. Throws a `TableError`.
     */
    look(from: number, bytesMax: number, applied: number): Promise<Look>
    /**
     * Takes the lock in a session of its own; null when another session has it. Throws a `TableError`, for example when
     * the settings of the server, its standbys, the role or the table are wrong.
     */
    lead(applied: number): Promise<LeadSession | null>
  }>

/**
 * Session of a leader, in which barrier, reads and appends happen. PostgreSQL ends it when this process is silent for
 * `SILENCE_MS_MAX`. Every second it checks the fence, because behind a pooler another node may have taken over in the
 * same session. Without that check an idle leader would not know. No call takes longer than `APPEND_MS_MAX`.
 */
export type LeadSession = AsyncDisposable &
  Readonly<{
    look: LogTable['look']
    /**
     * Commits a message that the standbys have flushed. Returns the newest place before it, so that every row that was
     * reported as appended is at or below it. Throws a `TableError` when that is not proved.
     */
    barrier(): Promise<number>
    /**
     * Appends at exactly this place, and shows it to other nodes as the place of this one. Never throws. After any
     * other answer than `appended` the session must be disposed of.
     */
    append(place: number, bytes: Uint8Array): Promise<AppendAnswer>
    /** Measures the clocks. Throws a `TableError`. */
    clockOffset(): Promise<ClockOffset>
    /** Resolves when the session is lost or disposed. */
    lost: Promise<void>
  }>

/** Most rows of one read. */
export const LOOK_ROWS_MAX = 256
/** Time after which PostgreSQL ends the session of a silent leader, in milliseconds. */
export const SILENCE_MS_MAX = 5_000
/**
 * Longest duration of a call in a leader's session, in milliseconds. The leader's transaction stays open for this time.
 */
export const APPEND_MS_MAX = 4_000
/** Bytes of the largest row. */
export const ROW_BYTES_MAX: number = 4 * 1024 * 1024

/** Fault of a database that may not be the current primary. */
export const UNPROVED = 'no synchronous standby confirms the rows of the table'

/** Error of the database. The message says what is wrong, where, and what to do. It has no password. */
export class TableError extends Error {
  override readonly name = 'TableError'
}

/** Error for a missing row when the table has later ones: its owner has deleted the oldest rows. */
export class MissingRow extends TableError {
  /** Place of the first row after it. */
  readonly next: number

  constructor(place: number, next: number) {
    super(
      `the table has row ${next}, but no row ${place}: restore a newer backup of a node, or delete row ${next} if it is none of the log`,
    )
    this.next = next
  }
}
