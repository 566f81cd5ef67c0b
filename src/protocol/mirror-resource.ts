/** Whether a mirror follows its origin, has no contact with it, or has stopped for good. */
export const MIRROR_STATES = ['following', 'waiting', 'stopped'] as const

/** What a mirror says about itself. */
export type Mirror = Readonly<{
  /** Public address of the service that it follows. */
  of: string
  state: (typeof MIRROR_STATES)[number]
  /** Newest seq that the origin has shown, proved or not. */
  originSeq: number
  /** Events that the origin has shown and the mirror has not proved. */
  behindEvents: number
  /** For how long it has been behind, in milliseconds; 0 when it is not. */
  behindMs: number
  /** When the origin last showed a checkpoint that agrees with everything that the mirror has. */
  provedAt: string | null
  provedAtMs: number | null
  /** When the origin last answered. */
  contactAt: string | null
  contactAtMs: number | null
  /** Keys by which the mirror proves the log, and who named them: the operator, or the log itself at the first use. */
  keys: readonly string[]
  keysFrom: 'operator' | 'first_use'
  /** When the origin told the counts of `finality`; null before it has. */
  heldAt: string | null
  heldAtMs: number | null
  /** What the origin contradicts, in words; null unless the mirror has stopped. */
  contradiction: string | null
}>
