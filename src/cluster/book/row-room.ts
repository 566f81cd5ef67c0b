import type { HeldChange, RowRef } from '../row/log-row.ts'
import { ROW_BYTES_MAX } from '../table/log-table.ts'
import { formatAmount } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { formatDetails } from '../../protocol/details.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { CommitRoom } from '../../publish/commit-path.ts'

// A row has at most 4 MiB. Requests are measured before they are built, so the sizes here are upper bounds.

const KIB = 1024
const MIB: number = 1024 * KIB

/** Bytes of a row besides the changes of a commit: head, keys and signature. */
const HEAD_BYTES: number = 16 * KIB
/** Bytes of a commit's events, changes of held drafts, and segments. */
export const ROW_CHANGES_BYTES_MAX: number = ROW_BYTES_MAX - HEAD_BYTES
/** Most bytes of one request, and of all requests in a commit of several. Its segments have the rest. */
const REQUEST_BYTES_MAX: number = 3.25 * MIB
const REQUESTS_BYTES_MAX: number = 2 * MIB
/** A commit with less room than this releases no further held drafts. */
const RELEASE_BYTES: number = 512 * KIB
/** Bytes that a segment leaves free, for changes of held drafts that come after it. */
export const SEGMENT_SPARE_BYTES: number = 64 * KIB

assert(REQUEST_BYTES_MAX + RELEASE_BYTES <= ROW_CHANGES_BYTES_MAX, 'the largest request fits a row')

/** Bytes of `["",""]` with a digest in base64, and of three newlines. */
const REF_BYTES = 55
/** Bytes of a number of 13 digits and a comma. */
export const DRAFT_ID_BYTES = 14
/** Bytes of a change of held drafts without its texts: field names and numbers. */
const CHANGE_BYTES = 180
/** Bytes of a draft's line and ref without their texts, or of its change when it is held: the larger of both. */
const DRAFT_BYTES = 196
/** Bytes of a details line without its details. */
const DETAILS_BYTES = 40

/** Bytes of a text in JSON. */
function jsonBytes(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(JSON.stringify(text))
}

/** Bytes of an event's lines in a row. */
export function bytesOfEvent(line: string, details: string | null): number {
  return Buffer.byteLength(line) + Buffer.byteLength(details ?? '')
}

/** Bytes of its ref, with the newlines of all three. */
export function bytesOfRef(ref: RowRef | null): number {
  return REF_BYTES + jsonBytes(ref?.ref ?? null)
}

/** Most bytes of a draft in a row, published or held. */
function draftBytes({ ref, type, kind, contestId, kots, tx, details }: Draft): number {
  const numbers = String(contestId).length + (kots === null ? 0 : formatAmount(kots).length)
  const more = details === null ? 0 : DETAILS_BYTES + Buffer.byteLength(formatDetails(details))
  return DRAFT_BYTES + type.length + kind.length + numbers + (tx?.length ?? 0) + jsonBytes(ref) + more
}

/** Most bytes of a change of held drafts. */
export function bytesOfChange(change: HeldChange): number {
  switch (change.is) {
    case 'hold':
      return draftBytes(change.held.draft)
    case 'change':
      return CHANGE_BYTES + jsonBytes(change.place) + jsonBytes(change.vouch) + jsonBytes(change.reason)
    case 'settle':
      return CHANGE_BYTES + jsonBytes(change.place) + jsonBytes(change.reason)
    case 'remove':
      return CHANGE_BYTES
    case 'chain':
      return CHANGE_BYTES + jsonBytes(change.id)
    case 'vouch':
      return CHANGE_BYTES + jsonBytes(change.reason)
  }
}

/**
 * Limits in bytes of a commit in one row. `bytesLeft` is the rest of the row that is being built, and `reserve`
 * reserves some of it.
 */
export function rowRoom(bytesLeft: () => number, reserve: (bytes: number) => void): CommitRoom {
  return {
    reserve,
    hasRoom: () => bytesLeft() >= RELEASE_BYTES,
    sizeOf: (drafts) => drafts.reduce((sum, draft) => sum + draftBytes(draft), 0),
    sizeOfDecision: (drafts, reason) => drafts * (CHANGE_BYTES + jsonBytes(reason)),
    sizeOfVerdict: (drafts, text) => CHANGE_BYTES + jsonBytes(text) + drafts * DRAFT_ID_BYTES,
    requestMax: REQUEST_BYTES_MAX,
    requestsMax: REQUESTS_BYTES_MAX,
  }
}
