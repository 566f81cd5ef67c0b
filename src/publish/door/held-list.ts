import type { ServerSaid } from './tx-judge.ts'
import type { HeldDraft, SettledDraft } from '../../log/held/held-draft.ts'
import { formatAmount } from '../../protocol/amount.ts'
import { formatDetails } from '../../protocol/details.ts'
import type { Draft } from '../../protocol/draft.ts'
import { moment, type Ms } from '../../protocol/moment.ts'
import type { HeldQueue } from '../held-queue.ts'

/**
 * States in which the list shows a draft. `refused`: its transaction is final, and the books refuse the draft, or its
 * amount is more than the transaction moved.
 */
export const LISTED_STATES = ['waiting', 'refused', 'failed', 'dropped'] as const
type ListedState = (typeof LISTED_STATES)[number]

/** A page of the list: drafts accepted after the draft with the id `after`. Null is every held draft. */
export type HeldPage = Readonly<{ after: number; limit: number; state: ListedState | null }>

/** A draft as the operator sees it. Nothing of it is public. */
type ListedDraft = Readonly<{
  id: number
  ref: string
  state: ListedState
  type: string
  kind: string
  contestId: number | null
  kots: string | null
  tx: string | null
  details: unknown
  acceptedAt: string
  acceptedAtMs: number
  settledAt: string | null
  settledAtMs: number | null
  /** The obstacle: the chain, earlier held drafts of its contest, or the books; null when it is settled. */
  waitsFor: 'chain' | 'contest' | 'books' | null
  place: string | null
  reason: string | null
  /** Last words of each RPC server, while the draft waits for the chain; null before this node has asked. */
  lastWords: readonly ServerSaid[] | null
}>

/** Tells the last words of the RPC servers about a transaction; null when this node has not asked. */
export type LastWords = (tx: string) => readonly ServerSaid[] | null

/** One page of held or settled drafts, in order of acceptance. */
export function listDrafts(
  queue: HeldQueue,
  { after, limit, state }: HeldPage,
  lastWords: LastWords,
): Readonly<{ drafts: readonly ListedDraft[]; next: number | null }> {
  // One more than the page tells whether it is the last.
  const found =
    state === 'failed' || state === 'dropped'
      ? queue.listSettled(state, after, limit + 1).map(settledRow)
      : queue
          .list(after, limit + 1, (held) => state === null || stateOf(held) === state)
          .map((held) => heldRow(held, lastWords))
  const drafts = found.slice(0, limit)
  return { drafts, next: found.length > limit ? (drafts.at(-1)?.id ?? null) : null }
}

function stateOf({ reason }: HeldDraft): ListedState {
  return reason === null ? 'waiting' : 'refused'
}

function heldRow(held: HeldDraft, lastWords: LastWords): ListedDraft {
  const { id, ref, draft, acceptedAt, settledAt, place, reason, chain } = held
  const waitsFor = chain === 'asked' ? 'chain' : reason === null ? 'contest' : 'books'
  const said = waitsFor === 'chain' && draft.tx !== null ? lastWords(draft.tx) : null
  const rest = { ...momentsOf(acceptedAt, settledAt), waitsFor, place, reason, lastWords: said } as const
  return { id, ref, state: stateOf(held), ...fieldsOf(draft), ...rest }
}

function settledRow({
  id,
  ref,
  draft,
  acceptedAt,
  settledAt,
  state,
  place,
  reason,
}: SettledDraft): ListedDraft {
  const rest = { ...momentsOf(acceptedAt, settledAt), waitsFor: null, place, reason, lastWords: null }
  return { id, ref, state, ...fieldsOf(draft), ...rest }
}

function fieldsOf({ type, kind, contestId, kots, tx, details }: Draft) {
  return {
    type,
    kind,
    contestId,
    kots: kots === null ? null : formatAmount(kots),
    tx,
    details: details === null ? null : (JSON.parse(formatDetails(details)) as unknown),
  }
}

function momentsOf(acceptedAt: Ms, settledAt: Ms | null) {
  const settled = settledAt === null ? null : moment(settledAt)
  return {
    acceptedAt: moment(acceptedAt).at,
    acceptedAtMs: acceptedAt,
    settledAt: settled?.at ?? null,
    settledAtMs: settled?.atMs ?? null,
  }
}
