/** Whether a mirror follows its origin, has no contact with it, or has stopped for good. */
export const MIRROR_STATES = ['following', 'waiting', 'stopped'] as const

/** Report of a mirror about itself. */
export type Mirror = Readonly<{
  /** Public address of the service that it follows. */
  of: string
  state: (typeof MIRROR_STATES)[number]
  /** Newest seq that the origin has shown, proved or not. */
  originSeq: number
  /** Events that the origin has shown and the mirror has not proved. */
  behindEvents: number
  /** Time for which it has been behind, in milliseconds; 0 when it is not. */
  behindMs: number
  /** Moment at which the origin last showed a checkpoint that agrees with the whole mirror. */
  provedAt: string | null
  provedAtMs: number | null
  /** Moment of the origin's last answer. */
  contactAt: string | null
  contactAtMs: number | null
  /** Keys by which the mirror proves the log, and who named them: the operator, or the log itself at the first use. */
  keys: readonly string[]
  keysFrom: 'operator' | 'first_use'
  /** Moment at which the origin told the counts of `finality`; null before it has. */
  heldAt: string | null
  heldAtMs: number | null
  /** Contradiction of the origin, in words; null unless the mirror has stopped. */
  contradiction: string | null
}>
