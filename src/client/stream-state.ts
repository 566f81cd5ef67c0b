/** How a stream stands; what a page shows as live, catching up, reconnecting or offline. */
export type StreamState =
  /** Asks for a connection. */
  | 'connecting'
  /** Connected, and on the way to the head. */
  | 'catching-up'
  /** Connected, and at the head. */
  | 'live'
  /** Reads from `/events` what the connection did not bring. */
  | 'repairing'
  /** Waits before it connects again: the connection ended, or the service asked to be left alone. */
  | 'reconnecting'
  /** Waits as well, and the last attempt to connect met nobody. */
  | 'offline'
  /** Given up by the reader. */
  | 'ended'
  /** Given up by us: the error says why. */
  | 'failed'

/** What happens to a stream. */
export type StreamSignal =
  /** The service accepts the connection. */
  | 'opened'
  /** What came leaves the cursor behind the head. */
  | 'behind'
  /** What came brings the cursor to the head. */
  | 'level'
  /** An event or a position came that leaves out what is before it. */
  | 'gap'
  /** Everything up to it is read. */
  | 'repaired'
  /** The connection ended, broke or fell silent, or nobody answered. */
  | 'broke'
  /** The service answers that it cannot serve now. */
  | 'busy'
  /** The wait is over. */
  | 'due'
  /** What is wrong will not pass. */
  | 'refused'
  /** The reader reads no further. */
  | 'stopped'

type Row = Readonly<Record<StreamSignal, StreamState>>

/** A state that every signal leaves as it is, but those that are named. */
const row = (stays: StreamState, leaves: Partial<Row>): Row => ({
  opened: stays,
  behind: stays,
  level: stays,
  gap: stays,
  repaired: stays,
  broke: stays,
  busy: stays,
  due: stays,
  refused: 'failed',
  stopped: 'ended',
  ...leaves,
})

const broken = { broke: 'reconnecting', busy: 'reconnecting' } as const
const waiting = { due: 'connecting' } as const
const over = (state: StreamState): Row => row(state, { refused: state, stopped: state })

/** The states of a stream, whole: what each signal makes of each state. */
export const STREAM_STATES: Readonly<Record<StreamState, Row>> = {
  connecting: row('connecting', { opened: 'catching-up', broke: 'offline', busy: 'reconnecting' }),
  'catching-up': row('catching-up', { ...broken, level: 'live', gap: 'repairing' }),
  live: row('live', { ...broken, behind: 'catching-up', gap: 'repairing' }),
  repairing: row('repairing', { ...broken, repaired: 'catching-up' }),
  reconnecting: row('reconnecting', waiting),
  offline: row('offline', waiting),
  ended: over('ended'),
  failed: over('failed'),
}
