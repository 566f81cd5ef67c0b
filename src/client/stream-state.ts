/** State of a stream, which a page shows as live, catching up, reconnecting or offline. */
export type StreamState =
  /** Opening a connection. */
  | 'connecting'
  /** Connected, behind the head. */
  | 'catching-up'
  /** Connected, at the head. */
  | 'live'
  /** Reading events that the connection skipped from `/events`. */
  | 'repairing'
  /** Waiting to reconnect, after the connection ended or the service sent `Retry-After`. */
  | 'reconnecting'
  /** Waiting to reconnect, after an attempt that reached no service. */
  | 'offline'
  /** Stopped by the reader. */
  | 'ended'
  /** Stopped by a permanent error. */
  | 'failed'

/** Signal that may change the state of a stream. */
export type StreamSignal =
  /** The service accepts the connection. */
  | 'opened'
  /** The cursor is behind the head. */
  | 'behind'
  /** The cursor has reached the head. */
  | 'level'
  /** An event or position skipped earlier events. */
  | 'gap'
  /** All skipped events have been read. */
  | 'repaired'
  /** The connection ended, broke or timed out, or could not be opened. */
  | 'broke'
  /** The service answered with a temporary error. */
  | 'busy'
  /** The wait is over. */
  | 'due'
  /** The error is permanent. */
  | 'refused'
  /** The reader has left the loop. */
  | 'stopped'

type Row = Readonly<Record<StreamSignal, StreamState>>

/** Row of a state in which only the given signals, `refused` and `stopped` change the state. */
const row = (state: StreamState, changes: Partial<Row>): Row => ({
  opened: state,
  behind: state,
  level: state,
  gap: state,
  repaired: state,
  broke: state,
  busy: state,
  due: state,
  refused: 'failed',
  stopped: 'ended',
  ...changes,
})

const broken = { broke: 'reconnecting', busy: 'reconnecting' } as const
const waiting = { due: 'connecting' } as const
const over = (state: StreamState): Row => row(state, { refused: state, stopped: state })

/** State machine of a stream: the next state for each state and signal. */
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
