import type { Ms } from '../../protocol/moment.ts'
import type { RpcFault } from '../../chain/rpc-failure.ts'

/** News of the gate for metrics and the log. It names a URL by its number and host only, and no address. */
export type FinalityReport =
  /** The chain that this log asks, by its genesis hash or chain id. */
  | Readonly<{ is: 'chain'; id: string }>
  /** No server answers yet, so nothing can be settled. */
  | Readonly<{ is: 'unanswered' }>
  /** The servers cannot be asked: they are of another chain. */
  | Readonly<{ is: 'other-chain'; reason: string }>
  | Readonly<{ is: 'fault'; rpc: number; name: string; fault: RpcFault; count: number }>
  | Readonly<{ is: 'pending'; pending: PendingDrafts }>
  /** Drafts are held because together they name more than their transaction moved. `drafts`: their numbers. */
  | Readonly<{ is: 'excess'; drafts: readonly number[]; reason: string }>
  /** Published payouts name less than their transaction moved. */
  | Readonly<{ is: 'less'; tx: string; reason: string }>
  /** The chain contradicts a published event or a dropped draft. */
  | Readonly<{ is: 'contradiction'; of: string; reason: string }>
  /** Number of contradictions that stand. */
  | Readonly<{ is: 'contradictions'; count: number }>
  | Readonly<{ is: 'failure'; reason: string }>

/** Drafts that wait for the chain. */
export type PendingDrafts = Readonly<{
  count: number
  oldestAcceptedAt: Ms | null
  /** Number of those that were accepted more than an hour ago. */
  unsettled: number
}>
