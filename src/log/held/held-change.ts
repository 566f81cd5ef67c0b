import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { HeldDraft, SettledDraft } from './held-draft.ts'

/**
 * A change of the held drafts, as one node tells it to the others. Several drafts that change in the same way, one after
 * the other, are one change with all their ids.
 *
 * - `hold`: a draft is held.
 * - `change`: everything of held drafts that can change.
 * - `remove`: the drafts were published.
 * - `settle`: the drafts will never be published.
 * - `vouch`: the event was published on the operator's word.
 * - `chain`: the log is settled by the blockchain with this id, before its first settlement.
 */
export type HeldChange = Readonly<
  | { is: 'hold'; held: HeldDraft }
  | ({ is: 'change'; ids: readonly number[] } & Changeable)
  | { is: 'remove'; ids: readonly number[] }
  | ({ is: 'settle'; ids: readonly number[] } & SettledEnd)
  | { is: 'vouch'; seq: Seq; reason: string; at: Ms }
  | { is: 'chain'; id: string }
>

/** Everything of a held draft that can change. */
type Changeable = Pick<HeldDraft, 'chain' | 'place' | 'settledAt' | 'vouch' | 'reason'>

/** Facts kept of a draft that will never be published. */
type SettledEnd = Pick<SettledDraft, 'state' | 'settledAt' | 'place' | 'reason'>
