import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MemoryLog } from './memory-log.ts'
import { parseDraftAmount } from '../../src/protocol/amount.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import type { EventType } from '../../src/protocol/rules.ts'
import { contestIdOf } from '../../src/protocol/seq.ts'
import type { BooksRefusal } from '../../src/publish/admission/admission.ts'
import { judgeDraft } from '../../src/publish/admission/admission.ts'
import type { Told } from './story.ts'
import { logOf, time } from './story.ts'

/** An event or a draft as a table of admission writes it; all happen at one moment. */
export type Said = Omit<Told, 'at'>

const AT = '2026-10-01T00:00Z'
/** Planned times of every contest of the tables. */
export const TIMES: Readonly<{ opensAt: Ms; closesAt: Ms }> = {
  opensAt: time('2026-10-02'),
  closesAt: time('2026-10-03'),
}

export function contest(kind: string, id = 1): Said {
  return { is: `contest/${kind}`, contest: id, ...(kind.endsWith('scheduled') && { details: TIMES }) }
}

/** An amount that moves; with a contest's number where it belongs to one. */
export function moved(is: Said['is'], kots: string, id?: number): Said {
  return { is, kots, ...(id !== undefined && { contest: id }) }
}

export const UPCOMING: readonly Said[] = [contest('scheduled')]
export const RUNNING: readonly Said[] = [...UPCOMING, contest('opened')]
export const PAYING: readonly Said[] = [...RUNNING, contest('closed')]
export const PAID: readonly Said[] = [...PAYING, contest('paid')]

/** A log in memory that holds the story. */
export function published(story: readonly Said[]): MemoryLog {
  return logOf(story.map((said) => ({ at: AT, ...said })))
}

export function draftOf({ is, contest: id, kots, details }: Said): Draft {
  const [type = '', kind = ''] = is.split('/')
  return {
    ref: 'r',
    atMs: null,
    type: type as EventType,
    kind,
    contestId: id === undefined ? null : contestIdOf(id),
    kots: kots === undefined ? null : (parseDraftAmount(kots) ?? null),
    tx: null,
    details: details ?? null,
  }
}

/** What the books of a log that holds the story say to the draft. */
export function refusalAfter(story: readonly Said[], said: Said): BooksRefusal | null {
  return judgeDraft(published(story).fold(), draftOf(said), 'refuse').refusal
}

/** What the log holds, what comes, and `field: reason` of its refusal, or null when it is taken. */
export type Row = readonly [name: string, story: readonly Said[], said: Said, refused: string | null]

/** One test for each row. */
export function holds(rows: readonly Row[]): void {
  for (const [name, story, said, refused] of rows) {
    test(name, () => {
      const refusal = refusalAfter(story, said)
      assert.equal(refusal === null ? null : `${refusal.field}: ${refusal.reason}`, refused)
    })
  }
}
