import type { Ms } from '../../protocol/moment.ts'
import type { RpcFault, ServerReply } from '../rpc/rpc-failure.ts'
import type { LastAnswer } from '../../publish/tx-judge.ts'

/** Report of the gate for metrics and the log. It names a URL by its number and host only, and no address. */
export type FinalityReport =
  /** The chain that this log asks, by its genesis hash or chain id. */
  | Readonly<{ is: 'chain'; id: string }>
  /** Too few servers answer yet, so nothing can be settled. */
  | Readonly<{ is: 'unanswered' }>
  /** The servers cannot be asked: they do not agree on the chain of the log. */
  | Readonly<{ is: 'other-chain'; reason: string }>
  /** Faults of one server with one code, and its last message. */
  | Readonly<{ is: 'fault'; rpc: number; name: string; fault: RpcFault; reply: ServerReply; count: number }>
  | Readonly<{ is: 'pending'; pending: PendingDrafts }>
  /** Drafts that have waited for longer than `overdueMs`, by number, and the last answers about the first of them. */
  | Readonly<{ is: 'overdue'; drafts: readonly number[]; answers: readonly LastAnswer[] }>
  /**
   * Payouts name more than their transaction moved, and are held, or less, and are published. `drafts`: their numbers.
   * The amounts and the transaction are left out, because a draft is private until it is published.
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
  /** Number of those that have waited for longer than `overdueMs`. */
  unsettled: number
}>
