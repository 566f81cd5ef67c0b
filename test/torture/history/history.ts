/** A draft as a publisher sends it. Its content differs from that of every other draft of the run. */
export type SentDraft = Readonly<{
  ref: string
  type: string
  kind: string
  kots?: string
  contestId?: number
  tx?: string
  details?: object
}>

/** An acknowledgement of a request: the seqs of its drafts, in their order. */
export type Acknowledgement = Readonly<{ node: string; seqs: readonly number[]; atMs: number }>

/** A request of a publisher, from its first attempt to its last. Moments are monotonic milliseconds of the run. */
export type SentRequest = Readonly<{
  publisher: string
  drafts: readonly SentDraft[]
  firstSentMs: number
  /** Answers with seqs: the first one, and those to repeated refs. */
  acks: readonly Acknowledgement[]
  /** Nodes that accepted it and hold it until its transaction is final, or drafts of its contest are published. */
  holds: readonly string[]
  /** Answers of 400 to 499 other than 429, and receipts of failed drafts. */
  refusals: readonly Readonly<{ node: string; status: number; code: string }>[]
  /** `refused`: every node has to refuse it, because of an earlier acknowledged request. */
  expected: 'published' | 'refused'
  /** Attempts without a definite answer: cut, late, or answered with 503. */
  unknowns: number
}>

/** One stream of a subscriber: what it asked for and the unbroken runs of seqs that it received. */
export type Visit = Readonly<{
  subscriber: number
  node: string
  after: number
  runs: readonly Readonly<{ from: number; to: number }>[]
  /** Status of a refusal other than 429 and 503. Null otherwise. */
  refused: number | null
  /** Type of the events that it asked for. Absent for all. */
  type?: string
}>

/** A different line of a seq that is not the first one seen, or an event of the stream that `/events/{seq}` lacks. */
export type Discord = Readonly<{ seq: number; node: string; what: string }>

/** A signed tree that a node has served. */
export type SeenTree = Readonly<{ node: string; size: number; root: string }>

/** State of a node at a moment at which nobody publishes. */
export type NodeState = Readonly<{
  node: string
  head: number
  root: string
  /** Status, type and SHA-256 of the answer at each path. */
  answers: ReadonlyMap<string, string>
}>

/** Failure of a command that audits a node, its store or a backup, or of a program that should have ended well. */
export type AuditFault = Readonly<{
  node: string
  audit: 'verify' | 'check' | 'cluster check' | 'end' | 'backup' | 'restore'
  output: string
}>

/** A row of an outbox when all of them are drained. */
export type DrainedRow = Readonly<{ draft: SentDraft; seq: number }>

/** A restored backup: its tree, and the size of the tree that the node had signed before the backup began. */
export type RestoredBackup = SeenTree & Readonly<{ least: number }>

/** Times in ms from the moment at which the engine has a leader again, after some faults. */
export type Recovery = Readonly<{
  faults: readonly string[]
  /** Until all nodes have the newest event that one of them had at that moment. */
  agreeMs: number
  /** Until a publisher has an acknowledgement. */
  publishMs: number
  /** Duration of computing meanwhile, as a multiple of that on an idle machine. */
  slowness: number
}>

/** Recorded history of a run. The checker reads nothing else. */
export type History = Readonly<{
  /** Entries of the log's leaves at the end, by one node: the line, and the details line after a line feed. */
  entries: readonly string[]
  requests: readonly SentRequest[]
  /** Drafts of an input that the command `publish -` has sent, in their order. */
  input: readonly SentDraft[]
  visits: readonly Visit[]
  /** First line seen of each seq in any stream. */
  firstLines: ReadonlyMap<number, string>
  discords: readonly Discord[]
  trees: readonly SeenTree[]
  /** States of all nodes while nobody publishes. The last one is at the end. */
  standstills: readonly (readonly NodeState[])[]
  auditFaults: readonly AuditFault[]
  recoveries: readonly Recovery[]
  /** Moment at which a stream first showed each seq, in milliseconds since 1970. */
  firstSeenMs: ReadonlyMap<number, number>
  /** First details line seen of each seq. */
  firstDetails: ReadonlyMap<number, string>
  /** Seqs whose event came without details to a subscriber that asked for them. */
  bare: ReadonlySet<number>
  /** Moment from which each transaction of the chain is final; null for one that never is. */
  finals: ReadonlyMap<string, number | null>
  /** Rows of an outbox in the order of their commits. */
  outbox: readonly DrainedRow[]
  /** Trees with a quorum of cosignatures, in the order in which each node showed them. */
  witnessed: readonly SeenTree[]
  backups: readonly RestoredBackup[]
}>

/** Content of a draft or an event, without its place in the log. */
export function contentOf(event: Readonly<Record<string, unknown>>): string {
  const { type, kind, contestId = null, kots = null, tx = null } = event
  return JSON.stringify([type, kind, contestId, kots, tx])
}
