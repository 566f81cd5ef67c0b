import type { Draft, DraftReceipt } from '../protocol/draft.ts'
import type { BooksRefusal } from './admission/admission.ts'
import { draftDigest } from './admission/grammar.ts'
import {
  requestRefusal,
  type DraftFault,
  type FailedOutcome,
  FAULTS_MAX,
  faultsRefusal,
  type Outcome,
  shownRef,
} from './admission/outcome.ts'
import { decide } from './decide.ts'
import { HELD_DRAFTS_MAX } from './held-drafts.ts'
import type { Release, ReleaseSettings } from './release.ts'

type RequestSettings = Omit<ReleaseSettings, 'hasRoom'> & Readonly<{ release: Release }>

/**
 * Publishes or holds the drafts of one request, all or none, in a transaction that the caller has begun. Nothing is
 * durable yet, and a crash undoes the transaction.
 */
export function publishRequest(settings: RequestSettings, drafts: readonly Draft[]): Outcome {
  const { appender, held, expected, release, balances, now } = settings
  const receipts: DraftReceipt[] = []
  const irregular: BooksRefusal[] = []
  const faults: DraftFault[] = []
  /** Contests of bad drafts. Null stands for bad drafts without a contest. */
  const lacking = new Set<Draft['contestId']>()
  let isFull = false
  for (const [index, draft] of drafts.entries()) {
    if (faults.length === FAULTS_MAX) break
    const { contestId } = draft
    const ref = draft.ref ?? ''
    const digest = draftDigest(draft)

    // A known ref returns its current status and changes nothing.
    const known = acceptedBefore(settings, ref)
    if (known !== undefined) {
      if (Buffer.compare(known.digest, digest) === 0) receipts.push(known.receipt)
      else {
        lacking.add(contestId)
        faults.push({ index, ref: shownRef(ref), ...REF_CONFLICT })
      }
      continue
    }
    // The books may refuse this draft only because an earlier bad one is missing, so it is not judged.
    const refersToEvent = draft.details?.corrects !== undefined || draft.details?.restates !== undefined
    if (lacking.has(contestId) || (refersToEvent && lacking.size > 0)) continue

    const books = expected.of(contestId)
    const decision = decide(appender.fold(), draft, books, balances)
    if (decision.is === 'refuse') {
      lacking.add(contestId)
      // The missing balance may be what a bad draft should have paid in.
      if (faults.length === 0 || decision.refusal.code !== 'insufficient-balance')
        faults.push({ index, ref: shownRef(ref), ...decision.refusal })
      continue
    }
    // The draft waits for the chain's verdict, or for held drafts of its contest.
    if (decision.is === 'wait' || (held.asksChain && draft.tx !== null)) {
      isFull = held.size() >= HELD_DRAFTS_MAX
      if (isFull) break
      held.hold(draft, ref, now())
      books.addHeld(draft)
      receipts.push({ ref, status: 'held' })
      continue
    }
    const { seq } = appender.append(draft, { ref, digest }, now())
    books.addPublished(draft)
    release.touch(contestId)
    // A deposit may be the balance that held drafts of any contest need.
    if (contestId === null) release.touch('dependent')
    receipts.push({ ref, status: 'published', seq })
    if (decision.irregular !== null) irregular.push(decision.irregular)
  }

  const refusal = faultsRefusal(faults) ?? (isFull ? HELD_FULL : undefined)
  if (refusal !== undefined) {
    appender.forget()
    held.forget()
    for (const { contestId } of drafts) expected.forget(contestId)
    // Counted now: the request may have held drafts of its own.
    return withHeld(refusal, held.size())
  }
  // Held drafts first, because the appender may end a segment, which uses the rest of the room.
  held.write()
  appender.write()
  for (const one of irregular) settings.onIrregular(one)
  return { ok: true, receipts }
}

/** Digest and current status of a draft that was accepted before; undefined for a new ref. */
function acceptedBefore(
  { appender, held }: Pick<RequestSettings, 'appender' | 'held'>,
  ref: string,
): Readonly<{ digest: Uint8Array; receipt: DraftReceipt }> | undefined {
  const event = appender.published(ref)
  if (event !== undefined)
    return { digest: event.digest, receipt: { ref, status: 'duplicate', seq: event.seq } }
  const before = held.find(ref) ?? held.ended(ref)
  if (before === undefined) return undefined
  const status = 'state' in before ? before.state : 'held'
  return { digest: draftDigest(before.draft), receipt: { ref, status } }
}

/**
 * Adds the number of held drafts to a refusal for order or balance. While any draft is held, a later attempt may
 * succeed.
 */
function withHeld(refusal: FailedOutcome, held: number): FailedOutcome {
  const passes = ({ code }: DraftFault): boolean => code === 'wrong-state' || code === 'insufficient-balance'
  return held > 0 && refusal.faults?.every(passes) === true ? { ...refusal, held } : refusal
}

const REF_CONFLICT = { code: 'ref-conflict', field: 'ref', reason: 'was used for other content' } as const

const HELD_FULL = requestRefusal('held-full', `${HELD_DRAFTS_MAX} drafts are held; nothing was published`)
