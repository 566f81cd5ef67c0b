import type { Appender } from '../../log/append.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import { type BalancesSetting, judgeDraft } from '../admission/admission.ts'
import { DRAFT_DIGEST_BYTES } from '../admission/grammar.ts'
import type { DraftBatch, ImportRefusal } from './import-messages.ts'
import type { RefsSeen } from './import-refs.ts'

/** Drafts in memory before they are written to the store. */
const UNKEPT_DRAFTS_MAX = 4_000

/** Checks imported drafts against refs, order of time and the books, and appends them. */
export type ImportAppender = Readonly<{
  /** Appends the drafts in order. Returns the refusal of the first that is refused. */
  take(batch: DraftBatch): ImportRefusal | null
  /** Writes the appended drafts to the store. */
  keep(): void
  counts(): Readonly<{ duplicates: number; irregular: number }>
}>

type Rules = Readonly<{
  balances: BalancesSetting
  now: Ms
  /** Whether a draft would have to wait for held drafts of its contest. */
  waits(draft: Draft): boolean
}>
type Fault = Readonly<{ field: string; reason: string }>

/** Opens the importing appender. The log’s appender's transaction must have begun. */
export function openImportAppender(
  appender: Appender,
  refs: RefsSeen,
  { balances, now, waits }: Rules,
): ImportAppender {
  let unkept = 0
  let duplicates = 0
  let irregular = 0

  /** Appends the draft, unless its ref was published with the same content. Returns the fault of a refused draft. */
  function takeDraft(draft: Draft, digest: Uint8Array): Fault | null {
    const { ref, atMs } = draft
    const published = ref === null ? undefined : refs.digestOf(ref)
    if (published !== undefined) {
      if (Buffer.compare(published, digest) !== 0)
        return { field: 'ref', reason: 'was used for another content' }
      duplicates++
      return null
    }
    if (ref !== null && refs.isHeld(ref))
      return { field: 'ref', reason: 'is that of a draft that is held, failed or was dropped' }
    if (atMs === null) return { field: 'at', reason: 'is required in an import' }
    const fault = faultOfMoment(atMs) ?? faultOfBooks(draft)
    if (fault !== null) return fault
    appender.append(draft, ref === null ? null : { ref, digest }, atMs)
    if (++unkept >= UNKEPT_DRAFTS_MAX) keep()
    return null
  }

  function faultOfMoment(atMs: Ms): Fault | null {
    const last = appender.head()
    if (last.atMs !== null && atMs < last.atMs) {
      return { field: 'at', reason: `is before that of the last event, ${last.seq}: it never decreases` }
    }
    return atMs > now ? { field: 'at', reason: 'is later than now' } : null
  }

  function faultOfBooks(draft: Draft): Fault | null {
    if (waits(draft)) {
      return { field: 'contestId', reason: 'is of a contest with held drafts: publish it through the door' }
    }
    const verdict = judgeDraft(appender.fold(), draft, balances)
    if (verdict.irregular !== null) irregular++
    return verdict.refusal
  }

  function keep(): void {
    appender.keep()
    unkept = 0
  }

  return {
    take({ file, drafts, lines, digests }) {
      for (const [index, draft] of drafts.entries()) {
        const start = index * DRAFT_DIGEST_BYTES
        const fault = takeDraft(draft, digests.subarray(start, start + DRAFT_DIGEST_BYTES))
        if (fault === null) continue
        const { field, reason } = fault
        return { ok: false, file, line: lines[index] ?? null, field, reason }
      }
      return null
    },
    keep,
    counts: () => ({ duplicates, irregular }),
  }
}
