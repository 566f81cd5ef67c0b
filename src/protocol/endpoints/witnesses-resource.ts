/** Summary of a witness's last answers: none came yet, it cosigns, it does not answer, or it refuses. */
export const WITNESS_STATES = ['unasked', 'cosigning', 'silent', 'refusing'] as const

/** Checkpoints that a receipt can be made against: the newest one, or the newest one with a quorum of cosignatures. */
export const RECEIPT_CHECKPOINTS = ['newest', 'witnessed'] as const

export type ReceiptCheckpoint = (typeof RECEIPT_CHECKPOINTS)[number]

/** Witnesses of a log, and the newest checkpoint that a quorum of them has cosigned. */
export type Witnesses = Readonly<{
  /** Number of witnesses whose cosignatures make a checkpoint a witnessed one; null for a log without witnesses. */
  quorum: number | null
  /** Witnesses by their keys. Several keys of one name are one witness. */
  witnesses: readonly Readonly<{
    name: string
    vkey: string
    /** Address below which it takes checkpoints. */
    url: string
    state: (typeof WITNESS_STATES)[number]
    /** Last event of the newest tree that it has cosigned, and the time of that cosignature; null before the first. */
    seq: number | null
    at: string | null
    atMs: number | null
  }>[]
  /** The newest checkpoint with a quorum; null before the first. */
  witnessed: Readonly<{
    seq: number
    /** Time as of which a quorum vouches for it. */
    at: string
    atMs: number
    /** Events of the log that it does not cover yet. */
    behind: number
    /** Names of the witnesses that have cosigned it. */
    cosigners: readonly string[]
  }> | null
}>
