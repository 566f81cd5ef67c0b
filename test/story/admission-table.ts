import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MemoryLog } from './memory-log.ts'
import { parseDraftAmount } from '../../src/protocol/amount.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import type { EventType } from '../../src/protocol/rules.ts'
import { contestIdOf } from '../../src/protocol/seq.ts'
import { type BooksRefusal, judgeDraft } from '../../src/publish/admission/admission.ts'
import { type EventSketch, logOf, time } from './story.ts'

/** An event or a draft in a table of admission. All have one moment. */
export type TableEvent = Omit<EventSketch, 'at'>

const AT = '2026-10-01T00:00Z'
/** Planned times of every contest of the tables. */
export const TIMES: Readonly<{ opensAt: Ms; closesAt: Ms }> = {
  opensAt: time('2026-10-02'),
  closesAt: time('2026-10-03'),
}

export function contest(kind: string, id = 1): TableEvent {
  return { is: `contest/${kind}`, contest: id, ...(kind.endsWith('scheduled') && { details: TIMES }) }
}

/** An event or draft with an amount, and with a contest if it belongs to one. */
export function moved(is: TableEvent['is'], kots: string, id?: number): TableEvent {
  return { is, kots, ...(id !== undefined && { contest: id }) }
}

export const UPCOMING: readonly TableEvent[] = [contest('scheduled')]
export const RUNNING: readonly TableEvent[] = [...UPCOMING, contest('opened')]
export const PAYING: readonly TableEvent[] = [...RUNNING, contest('closed')]
export const PAID: readonly TableEvent[] = [...PAYING, contest('paid')]

/** A log in memory with these events. */
export function published(events: readonly TableEvent[]): MemoryLog {
  return logOf(events.map((draft) => ({ at: AT, ...draft })))
}

export function draftOf({ is, contest: id, kots, details }: TableEvent): Draft {
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

/** The refusal of the draft by the books of a log with these events. */
export function refusalAfter(events: readonly TableEvent[], draft: TableEvent): BooksRefusal | null {
  return judgeDraft(published(events).fold(), draftOf(draft), 'refuse').refusal
}

/** The log's events, the draft, and `field: reason` of its refusal, or null when it is admitted. */
export type Row = readonly [
  name: string,
  events: readonly TableEvent[],
  draft: TableEvent,
  refused: string | null,
]

/** Registers one test for each row. */
export function testAdmission(rows: readonly Row[]): void {
  for (const [name, events, draft, refused] of rows) {
    test(name, () => {
      const refusal = refusalAfter(events, draft)
      assert.equal(refusal === null ? null : `${refusal.field}: ${refusal.reason}`, refused)
    })
  }
}
