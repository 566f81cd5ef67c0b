import { formatAmount, parseAmount } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { formatDetails, parseDetails } from '../../protocol/details.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { ContestId } from '../../protocol/seq.ts'

/**
 * State of a held draft's transaction: the chain is `asked`, the chain said `final`, the operator `vouched`, or `none`
 * is needed.
 */
export type ChainWord = 'asked' | 'final' | 'vouched' | 'none'

/** A draft that was accepted and waits. */
export type HeldDraft = Readonly<{
  /** Order of acceptance. */
  id: number
  ref: string
  draft: Draft
  acceptedAt: Ms
  chain: ChainWord
  /** Slot or block of its transaction; null until the chain says final. */
  place: string | null
  settledAt: Ms | null
  /** The operator's reason of a vouch. */
  vouch: string | null
  /** Reason why it stays held although its turn has come; null while it waits. */
  reason: string | null
}>

/** Draft that will never be published: its transaction failed, or the operator dropped it. */
export type EndedDraft = Pick<HeldDraft, 'id' | 'ref' | 'draft' | 'acceptedAt' | 'place'> &
  Readonly<{ state: 'failed' | 'dropped'; settledAt: Ms; reason: string }>

type StoredDraft = Readonly<{
  type: Draft['type']
  kind: string
  contestId: ContestId | null
  kots: string | null
  tx: string | null
  details: unknown
}>

/** JSON of a draft in the form that the private publish API accepts. */
export function formatDraft({ ref, type, kind, contestId, kots, tx, details }: Draft): string {
  return JSON.stringify({
    ref,
    type,
    kind,
    contestId,
    kots: kots === null ? null : formatAmount(kots),
    tx,
    details: details === null ? null : JSON.parse(formatDetails(details)),
  })
}

/** Reads the JSON of `formatDraft`. */
export function parseStoredDraft(json: string, ref: string): Draft {
  const { type, kind, contestId, kots, tx, details }: StoredDraft = JSON.parse(json)
  const amount = kots === null ? null : parseAmount(kots)
  assert(amount !== undefined, 'a held draft has a stored amount of nine decimals')
  const parsed = details === null ? null : parseDetails(JSON.stringify(details))
  return { ref, atMs: null, type, kind, contestId, kots: amount, tx, details: parsed }
}
