import * as fc from 'fast-check'
import type { CommitRow, HeldChange, LogRow, RowBody } from '../../../src/cluster/row/log-row.ts'
import type { ListedKey } from '../../../src/log/store/reader.ts'
import { formatDetailsLine } from '../../../src/protocol/details.ts'
import type { Draft } from '../../../src/protocol/draft.ts'
import { type Entry, formatEvent } from '../../../src/protocol/event.ts'
import { type Month, msOf } from '../../../src/protocol/moment.ts'
import { seqOf } from '../../../src/protocol/seq.ts'
import { randomLogs } from '../../story/random-log.ts'

const bytesOf = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes))
const hashes = bytesOf(32)
const texts = fc.string({ unit: 'grapheme', maxLength: 12 })
const counts = fc.nat(1_000_000)
const moments = fc.integer({ min: 0, max: 2_000_000_000_000 }).map(msOf)
const orNull = <Value>(of: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(of)

const keys: fc.Arbitrary<readonly ListedKey[]> = fc.array(
  fc.record({ vkey: texts, fromSize: counts, toSize: orNull(counts), statement: orNull(texts) }),
  { maxLength: 3 },
)
const identities = fc.record({
  id: texts,
  origin: texts,
  chain: fc.constantFrom('solana', 'evm', 'opaque'),
  simulated: fc.boolean(),
  former: fc.array(fc.record({ id: texts, origin: texts, size: counts }), { maxLength: 2 }),
})

/** The draft of an entry, with a ref. */
function draftOfEntry({ event, details }: Entry, ref: string): Draft {
  const { type, kind, contestId, kots, tx } = event
  return { ref, atMs: null, type, kind, contestId, kots, tx, details }
}

const ids = fc.array(
  counts.map((id) => id + 1),
  { minLength: 1, maxLength: 5 },
)
const changeable = {
  chain: fc.constantFrom('asked', 'final', 'vouched', 'none'),
  place: orNull(texts),
  settledAt: orNull(moments),
  vouch: orNull(texts),
  reason: orNull(texts),
} as const

function changesOf(entries: readonly Entry[]): fc.Arbitrary<readonly HeldChange[]> {
  const holds = entries.map((entry, index) =>
    fc
      .record({ id: fc.constant(index + 1), acceptedAt: moments, ref: texts, ...changeable })
      .map(({ ref, ...held }): HeldChange => ({
        is: 'hold',
        held: { ...held, ref, draft: draftOfEntry(entry, ref) },
      })),
  )
  const settled = {
    state: fc.constantFrom('failed', 'dropped'),
    settledAt: moments,
    place: orNull(texts),
    reason: texts,
  }
  const others = fc.oneof(
    fc.record({ is: fc.constant('change'), ids, ...changeable }),
    fc.record({ is: fc.constant('remove'), ids }),
    fc.record({ is: fc.constant('chain'), id: texts }),
    fc.record({ is: fc.constant('settle'), ids, ...settled }),
    fc.record({ is: fc.constant('vouch'), seq: counts.map((n) => seqOf(n + 1)), reason: texts, at: moments }),
  )
  return fc.array(fc.oneof(...holds, others), { maxLength: 8 }) as fc.Arbitrary<readonly HeldChange[]>
}

function commitsOf(entries: readonly Entry[]): fc.Arbitrary<CommitRow> {
  const refs = fc.array(orNull(fc.record({ ref: texts, digest: hashes })), {
    minLength: entries.length,
    maxLength: entries.length,
  })
  const segments = fc.array(
    fc.record({
      month: fc.constantFrom('2026-01' as Month, '2026-12' as Month),
      file: fc.constantFrom('events', 'details'),
      start: counts,
      bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    }),
    { maxLength: 3 },
  )
  const moved = orNull(
    fc.record({
      signatures: fc.array(fc.record({ size: counts, bytes: bytesOf(68) }), { maxLength: 3 }),
      notes: fc.array(fc.record({ size: counts, note: texts }), { maxLength: 2 }),
    }),
  )
  return fc.record({
    is: fc.constant('commit'),
    first: fc.constant(1),
    root: hashes,
    lines: fc.constant(entries.map(({ event }) => formatEvent(event))),
    details: fc.constant(
      entries.map(({ event, details }) => (details === null ? null : formatDetailsLine(event.seq, details))),
    ),
    refs,
    held: changesOf(entries),
    segments,
    moved,
  }) as fc.Arbitrary<CommitRow>
}

const bodies: fc.Arbitrary<RowBody> = fc.oneof(
  { weight: 6, arbitrary: randomLogs.chain(commitsOf) },
  fc.record({ is: fc.constant('begin'), identity: identities, keys }),
  fc.record({ is: fc.constant('keys'), head: counts, keys }),
  fc.record({ is: fc.constant('end'), head: counts, root: hashes, nonce: hashes }),
) as fc.Arbitrary<RowBody>

/** Random rows of every kind. Their content need not fit together. */
export const randomRows: fc.Arbitrary<LogRow> = fc
  .tuple(
    fc.record({ v: fc.constant(1), logId: texts, place: counts.map((n) => n + 1), prev: hashes }),
    bodies,
  )
  .map(([place, body]) => ({ ...place, ...body }))
