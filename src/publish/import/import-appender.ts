import type { Appender } from '../../log/append.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { HeldBefore } from '../../protocol/rules.ts'
import { type BalancesSetting, judgeDraft } from '../admission/admission.ts'
import { DRAFT_DIGEST_BYTES } from '../admission/grammar.ts'
import type { DraftBatch, ImportRefusal } from './import-thread.ts'
import type { DatabaseSync } from 'node:sqlite'
import { openHeldTables } from '../../log/held/held-tables.ts'
import { heldAs, waitsForHeld } from '../decide.ts'
import { bytes } from '../../log/store/codec.ts'
import { BULK_REFS } from '../../log/store/store-schema.ts'
import { openRefFilter } from './import-filter.ts'

/** Drafts in memory before they are written to the store. */
const UNWRITTEN_DRAFTS_MAX = 4_000

/** Checks imported drafts against refs, order of time and the books, and appends them. */
export type ImportAppender = Readonly<{
  /** Appends the drafts in order. Returns the refusal of the first bad one. */
  take(batch: DraftBatch): ImportRefusal | null
  /** Writes the appended drafts to the store. */
  write(): void
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
  let unwritten = 0
  let duplicates = 0
  let irregular = 0

  /** Appends the draft, unless its ref was published with the same content. Returns the fault of a refused draft. */
  function takeDraft(draft: Draft, digest: Uint8Array): Fault | null {
    const { ref, atMs } = draft
    const published = ref === null ? undefined : refs.digestOf(ref)
    if (published !== undefined) {
      if (Buffer.compare(published, digest) !== 0)
        return { field: 'ref', reason: 'was used for other content' }
      duplicates++
      return null
    }
    if (ref !== null && refs.isHeld(ref))
      return { field: 'ref', reason: 'is that of a draft that is held, failed or was dropped' }
    if (atMs === null) return { field: 'at', reason: 'is required in an import' }
    const fault = faultOfMoment(atMs) ?? faultOfBooks(draft)
    if (fault !== null) return fault
    appender.append(draft, ref === null ? null : { ref, digest }, atMs)
    if (++unwritten >= UNWRITTEN_DRAFTS_MAX) write()
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
      return { field: 'contestId', reason: 'is of a contest with held drafts: publish it over HTTP' }
    }
    const verdict = judgeDraft(appender.fold(), draft, balances)
    if (verdict.irregular !== null) irregular++
    return verdict.refusal
  }

  function write(): void {
    appender.write()
    unwritten = 0
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
    write,
    counts: () => ({ duplicates, irregular }),
  }
}

/**
 * Opens the check for drafts that a server would hold, because a held draft of their contest needs what they take. An
 * import cannot hold drafts. It changes no held draft, so they are read once.
 */
export function openImportHeld(db: DatabaseSync): (draft: Draft) => boolean {
  /** Held drafts of each contest. */
  const known = new Map<Draft['contestId'], Set<HeldBefore>>()
  for (const { draft } of openHeldTables(db).all()) {
    const before = known.get(draft.contestId) ?? []
    known.set(draft.contestId, new Set([...before, ...heldAs(draft)]))
  }
  return (draft) => {
    const held = draft.contestId === null ? undefined : known.get(draft.contestId)
    return held !== undefined && waitsForHeld(draft, { anyHeld: (of) => held.has(of) })
  }
}

/** The refs of the existing log and of this import. */
type RefsSeen = Readonly<{
  /** Digest of the draft with this ref; undefined when the ref is new. Must be called once for each draft. */
  digestOf(ref: string): Uint8Array | undefined
  /** Whether a draft with this ref is held, failed or was dropped. */
  isHeld(ref: string): boolean
}>

/**
 * Opens the look-up of refs. The refs of the existing log `old` have an index. Those of the import have none at first:
 * a Bloom filter finds refs that are certainly new, and the first other ref builds the index. So an import without
 * repeated refs sorts them only once, at its end.
 */
export function openRefsSeen(old: DatabaseSync | null, db: DatabaseSync, appender: Appender): RefsSeen {
  const published = old?.prepare('SELECT digest FROM refs WHERE ref = ?')
  const filter = openRefFilter()
  let isIndexed = false
  return {
    isHeld: openHeldRefs(db),
    digestOf(ref) {
      const row = published?.get(ref)
      if (row !== undefined) return bytes(row, 'digest')
      if (filter.isNew(ref)) return undefined
      if (!isIndexed) db.exec(BULK_REFS.index)
      isIndexed = true
      return appender.published(ref)?.digest
    },
  }
}

/**
 * Opens the look-up of refs that an import must not use: those of held, failed or dropped drafts. The import adds none,
 * so an empty table stays empty.
 */
function openHeldRefs(db: DatabaseSync): (ref: string) => boolean {
  const isEmpty = db.prepare('SELECT 1 FROM held UNION ALL SELECT 1 FROM settled LIMIT 1').get() === undefined
  if (isEmpty) return () => false
  const find = db.prepare('SELECT 1 FROM held WHERE ref = ?1 UNION ALL SELECT 1 FROM settled WHERE ref = ?1')
  return (ref) => find.get(ref) !== undefined
}
