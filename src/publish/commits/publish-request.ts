import type { Appender } from '../../log/append.ts'
import type { Draft, DraftReceipt } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { BalancesSetting, BooksRefusal } from '../admission/admission.ts'
import { draftDigest } from '../admission/grammar.ts'
import type { FailedOutcome, Outcome } from '../admission/outcome.ts'
import { decide } from '../held/decide.ts'
import type { EarlierCache } from '../held/earlier-held.ts'
import type { HeldDrafts } from '../held/held-drafts.ts'
import { HELD_DRAFTS_MAX } from '../held/held-drafts.ts'
import type { Release } from '../held/release.ts'

type RequestSettings = Readonly<{
  appender: Appender
  held: HeldDrafts
  earlier: EarlierCache
  release: Release
  /** Whether a blockchain says when a transaction is final. Without one, the operator vouches for it. */
  asksChain: boolean
  balances: BalancesSetting
  now(): Ms
  /** Called for each draft that was published although its order or balance is wrong. */
  onIrregular(refusal: BooksRefusal): void
}>

/** A draft of the request, with its place in it. */
type SentDraft = Readonly<{ draft: Draft; index: number; ref: string; digest: Uint8Array }>

type Accepted = Readonly<{ receipt: DraftReceipt; irregular: BooksRefusal | null }>

/** Publishes or holds the drafts of one request, in a transaction that the caller has begun. Keeps all or none. */
export function publishRequest(settings: RequestSettings, drafts: readonly Draft[]): Outcome {
  const { appender, held } = settings
  const all: Accepted[] = []
  for (const [index, draft] of drafts.entries()) {
    const sent = { draft, index, ref: draft.ref ?? '', digest: draftDigest(draft) }
    const outcome = known(settings, sent) ?? publishOrHold(settings, sent)
    if ('ok' in outcome) {
      forget(settings, drafts.slice(0, index))
      // Counted now: the request may have held drafts of its own.
      return withHeld(outcome, held.size())
    }
    all.push(outcome)
  }
  // The appender may end a segment, which takes the room that is left.
  held.keep()
  appender.keep()
  for (const { irregular } of all) if (irregular !== null) settings.onIrregular(irregular)
  return { ok: true, receipts: all.map(({ receipt }) => receipt) }
}

/** The present state of a draft that was accepted before; undefined for a new ref. */
function known(
  { appender, held }: RequestSettings,
  { ref, digest, index }: SentDraft,
): Accepted | FailedOutcome | undefined {
  const published = appender.published(ref)
  if (published !== undefined) {
    if (Buffer.compare(published.digest, digest) !== 0) return conflict(index)
    return accepted({ ref, status: 'duplicate', seq: published.seq })
  }
  const before = held.find(ref) ?? held.settled(ref)
  if (before === undefined) return undefined
  if (Buffer.compare(draftDigest(before.draft), digest) !== 0) return conflict(index)
  return accepted({ ref, status: 'state' in before ? before.state : 'held' })
}

/** Publishes a new draft, or holds it for the chain or for its contest, or refuses it. */
function publishOrHold(settings: RequestSettings, sent: SentDraft): Accepted | FailedOutcome {
  const { appender, held, earlier, release, balances } = settings
  const { draft, ref, digest, index } = sent
  const decision = decide(appender.fold(), draft, earlier.of(draft.contestId), balances)
  if (decision.is === 'refuse') return { ok: false, index, ...decision.refusal }
  const asked = draft.tx !== null && settings.asksChain
  if (decision.is === 'publish' && !asked) {
    const event = appender.append(draft, { ref, digest }, settings.now())
    earlier.publish(draft)
    release.touch(draft.contestId)
    // A deposit can be what held drafts of any contest lack.
    if (draft.contestId === null) release.touchDependent()
    return accepted({ ref, status: 'published', seq: event.seq }, decision.irregular)
  }
  if (held.size() >= HELD_DRAFTS_MAX) return HELD_FULL
  held.hold(draft, ref, asked ? 'asked' : 'none', settings.now())
  earlier.hold(draft)
  return accepted({ ref, status: 'held' })
}

function accepted(receipt: DraftReceipt, irregular: BooksRefusal | null = null): Accepted {
  return { receipt, irregular }
}

/** A refusal for order or balance may pass by itself while anything is held. */
function withHeld(refusal: FailedOutcome, held: number): FailedOutcome {
  const passes = refusal.code === 'wrong-state' || refusal.code === 'insufficient-balance'
  return passes && held > 0 ? { ...refusal, held } : refusal
}

function conflict(index: number): FailedOutcome {
  return { ok: false, code: 'ref-conflict', index, field: 'ref', reason: 'was used for another content' }
}

/** Forgets a refused request, of which these drafts had been accepted. */
function forget({ appender, held, earlier }: RequestSettings, drafts: readonly Draft[]): void {
  appender.drop()
  held.drop()
  for (const { contestId } of drafts) earlier.forget(contestId)
}

const HELD_FULL: FailedOutcome = {
  ok: false,
  code: 'held-full',
  index: null,
  field: null,
  reason: `${HELD_DRAFTS_MAX} drafts are held; nothing was published`,
}
