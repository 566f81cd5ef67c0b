/** Whether a mirror follows its origin, has no contact with it, or has stopped for good. */
export const MIRROR_STATES = ['following', 'waiting', 'stopped'] as const

/** Reasons why a mirror waits. `starting`: its origin has shown nothing since its start. */
export const MIRROR_WAITS = ['starting', 'unreachable', 'unusable', 'version', 'disk'] as const

/** A mirror between this one and the log's own service, by the word of the nearer one. */
export type UpstreamMirror = Readonly<{
  /** Public address of the service that it follows. */
  of: string
  state: (typeof MIRROR_STATES)[number]
  /** Most milliseconds by which it may be late. */
  behindMs: number
  provedAt: string | null
  provedAtMs: number | null
}>

/** Report of a mirror about itself. */
export type Mirror = Readonly<{
  /** Public address of the service that it follows. */
  of: string
  state: (typeof MIRROR_STATES)[number]
  /** Reason why it waits; null unless it does. */
  reason: (typeof MIRROR_WAITS)[number] | null
  /** Newest seq that the origin has shown or named, proved or not. */
  originSeq: number
  /** Events that the origin has shown and the mirror has not proved. */
  behindEvents: number
  /**
   * Most milliseconds by which its answers may be late: 0 while it follows and lacks nothing; time since the last proof
   * while it does not follow. Includes the delay of the mirrors in `upstream`.
   */
  behindMs: number
  /** Moment at which the origin last showed a checkpoint that agrees with the whole mirror. */
  provedAt: string | null
  provedAtMs: number | null
  /** Moment of the origin's last answer. */
  contactAt: string | null
  contactAtMs: number | null
  /** Mirrors between this one and the log's own service, the nearest first; empty when the origin is no mirror. */
  upstream: readonly UpstreamMirror[]
  /** Keys by which the mirror proves the log, and who named them: the operator, or the log itself at the first use. */
  keys: readonly string[]
  keysFrom: 'operator' | 'first_use'
  /** Moment at which the origin told the counts of `finality`; null before it has. */
  heldAt: string | null
  heldAtMs: number | null
  /** Contradiction of the origin, in words; null unless the mirror has stopped. */
  contradiction: string | null
}>
