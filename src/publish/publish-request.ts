import type { Appender } from '../log/append.ts'
import type { Draft, DraftReceipt } from '../protocol/draft.ts'
import type { Ms } from '../protocol/moment.ts'
import type { BalancesSetting, BooksRefusal } from './admission/admission.ts'
import { draftDigest } from './admission/grammar.ts'
import {
  requestRefusal,
  type DraftFault,
  type FailedOutcome,
  FAULTS_MAX,
  faultsRefusal,
  type Outcome,
  toldRef,
} from './admission/outcome.ts'
import { decide } from './decide.ts'
import { HELD_DRAFTS_MAX, type HeldDrafts } from './held-drafts.ts'
import type { Release } from './release.ts'
import type { EarlierCache } from './expected-books.ts'

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
  const faults: DraftFault[] = []
  /** Contests of bad drafts, and null when one belongs to none. */
  const lacking = new Set<Draft['contestId']>()
  let whole: FailedOutcome | undefined
  for (const [index, draft] of drafts.entries()) {
    const sent = { draft, index, ref: draft.ref ?? '', digest: draftDigest(draft) }
    const outcome = known(settings, sent) ?? (lacks(lacking, draft) ? null : publishOrHold(settings, sent))
    if (outcome === null) continue
    if ('receipt' in outcome) {
      all.push(outcome)
      continue
    }
    if ('ok' in outcome) {
      whole = outcome
      break
    }
    lacking.add(draft.contestId)
    // Any account can lack what a bad draft should have paid in.
    if (faults.length === 0 || outcome.code !== 'insufficient-balance') faults.push(outcome)
    if (faults.length === FAULTS_MAX) break
  }
  const refusal = faultsRefusal(faults) ?? whole
  if (refusal !== undefined) {
    forget(settings, drafts)
    // Counted now: the request may have held drafts of its own.
    return withHeld(refusal, held.size())
  }
  // The appender may end a segment, which takes the room that is left.
  held.keep()
  appender.keep()
  for (const { irregular } of all) if (irregular !== null) settings.onIrregular(irregular)
  return { ok: true, receipts: all.map(({ receipt }) => receipt) }
}

/** Whether the books may refuse a draft only because a bad one before it is missing, so that it is not judged. */
function lacks(lacking: ReadonlySet<Draft['contestId']>, { contestId, details }: Draft): boolean {
  const refersToEvent = details?.corrects !== undefined || details?.restates !== undefined
  return lacking.has(contestId) || (refersToEvent && lacking.size > 0)
}

/** The present state of a draft that was accepted before; undefined for a new ref. */
function known({ appender, held }: RequestSettings, sent: SentDraft): Accepted | DraftFault | undefined {
  const { ref, digest } = sent
  const published = appender.published(ref)
  if (published !== undefined) {
    if (Buffer.compare(published.digest, digest) !== 0) return conflict(sent)
    return accepted({ ref, status: 'duplicate', seq: published.seq })
  }
  const before = held.find(ref) ?? held.settled(ref)
  if (before === undefined) return undefined
  if (Buffer.compare(draftDigest(before.draft), digest) !== 0) return conflict(sent)
  return accepted({ ref, status: 'state' in before ? before.state : 'held' })
}

/** Publishes a new draft, or holds it for the chain or for its contest, or refuses it. */
function publishOrHold(settings: RequestSettings, sent: SentDraft): Accepted | DraftFault | FailedOutcome {
  const { appender, held, earlier, release, balances } = settings
  const { draft, ref, digest, index } = sent
  const decision = decide(appender.fold(), draft, earlier.of(draft.contestId), balances)
  if (decision.is === 'refuse') return { index, ref: toldRef(ref), ...decision.refusal }
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
  const passes = ({ code }: DraftFault): boolean => code === 'wrong-state' || code === 'insufficient-balance'
  return held > 0 && refusal.faults?.every(passes) === true ? { ...refusal, held } : refusal
}

function conflict({ index, ref }: SentDraft): DraftFault {
  return {
    code: 'ref-conflict',
    index,
    ref: toldRef(ref),
    field: 'ref',
    reason: 'was used for another content',
  }
}

/** Forgets a refused request. Some of its drafts had been accepted. */
function forget({ appender, held, earlier }: RequestSettings, drafts: readonly Draft[]): void {
  appender.drop()
  held.drop()
  for (const { contestId } of drafts) earlier.forget(contestId)
}

const HELD_FULL = requestRefusal('held-full', `${HELD_DRAFTS_MAX} drafts are held; nothing was published`)
