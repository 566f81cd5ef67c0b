import type { Ms } from '../../protocol/moment.ts'
import type { RpcFault, ServerReply } from '../rpc/rpc-failure.ts'
import type { LastMessage } from '../../publish/tx-judge.ts'

/** Report of the gate for metrics and log lines. It has only the number and host of a URL, and no address. */
export type FinalityReport =
  /** Chain that this log asks, by its genesis hash or chain id. */
  | Readonly<{ is: 'chain'; id: string }>
  /** Too few servers answer yet, so nothing can be settled. */
  | Readonly<{ is: 'unanswered' }>
  /** The servers cannot be used, because they do not agree on the chain of the log. */
  | Readonly<{ is: 'other-chain'; reason: string }>
  /** Faults of one server with one code, and its last message. */
  | Readonly<{ is: 'fault'; rpc: number; name: string; fault: RpcFault; reply: ServerReply; count: number }>
  | Readonly<{ is: 'pending'; pending: PendingDrafts }>
  /** Ids of drafts that have waited for longer than `overdueMs`, and the last answers about the first of them. */
  | Readonly<{ is: 'overdue'; drafts: readonly number[]; answers: readonly LastMessage[] }>
  /**
   * Ids of drafts whose payouts differ from the amount that their transaction moved. `excess`: the payouts are higher,
   * and the drafts are held. `less`: they are lower, and the drafts are published. The amounts and the transaction are
   * omitted, because a draft is private until it is published.
   */
  | Readonly<{ is: 'excess' | 'less'; drafts: readonly number[] }>
  /** The chain contradicts a published event, or a dropped or failed draft. */
  | Readonly<{ is: 'contradiction'; of: string; reason: string }>
  /** Number of contradictions that stand. */
  | Readonly<{ is: 'contradictions'; count: number }>
  | Readonly<{ is: 'failure'; reason: string }>

/** Drafts that wait for the chain. */
export type PendingDrafts = Readonly<{
  count: number
  oldestAcceptedAt: Ms | null
  /** Number of drafts that have waited for longer than `overdueMs`. */
  unsettled: number
}>
