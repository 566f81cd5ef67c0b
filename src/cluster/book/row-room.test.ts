import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { assertCarried, type BookNodes, openBookNodes } from '../../../test/cluster/book/book-nodes.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { formatDetailsLine } from '../../protocol/details.ts'
import type { Draft } from '../../protocol/draft.ts'
import { formatEvent } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { rowRoom } from './row-room.ts'
import { formatRowSections } from '../row/row-frame.ts'

const NOW = Date.UTC(2026, 5, 1)
const ZEROS = new Uint8Array(32)
const DIGEST = ZEROS.subarray(0, 16)

/** Bytes that a draft has in a row when it is published, and when it is held. */
function bytesOf(draft: Draft, seq: number): readonly [published: number, held: number] {
  const { ref, details, type, kind, contestId, kots, tx } = draft
  const event = { seq: seqOf(seq), type, kind, atMs: msOf(NOW), contestId, kots, tx }
  const none = {
    is: 'commit',
    first: 1,
    root: ZEROS,
    lines: [],
    details: [],
    refs: [],
    held: [],
    segments: [],
    moved: null,
  } as const
  const [lines, more, refs] = formatRowSections({
    ...none,
    lines: [formatEvent(event)],
    details: [details === null ? null : formatDetailsLine(event.seq, details)],
    refs: [{ ref: ref ?? '', digest: DIGEST }],
  })
  const waits = { place: null, settledAt: null, vouch: null, reason: null }
  const held = {
    id: 9_999_999,
    ref: ref ?? '',
    draft,
    acceptedAt: msOf(NOW),
    chain: 'asked',
    ...waits,
  } as const
  const sections = formatRowSections({ ...none, held: [{ is: 'hold', held }] })
  const size = (section: Uint8Array | undefined): number => section?.length ?? 0
  return [size(lines) + size(more) + size(refs), size(sections[3])]
}

function openTwo(): BookNodes {
  return openBookNodes({ nodes: 2, asksChain: false, balances: 'report', now: () => msOf(NOW) })
}

suite('the size of a draft', () => {
  test('is never less than its bytes in a row, published or held', () => {
    const { sizeOf } = rowRoom(
      () => 0,
      () => undefined,
    )
    const refs = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 })
    const seqs = fc.integer({ min: 1, max: 10 ** 12 })
    fc.assert(
      fc.property(randomLogs, refs, seqs, (entries, ref, seq) => {
        for (const { event, details } of entries) {
          const { type, kind, contestId, kots, tx } = event
          const draft = { ref, atMs: null, type, kind, contestId, kots, tx, details }
          const size = sizeOf([draft])
          const [published, held] = bytesOf(draft, seq)
          assert.ok(published <= size && held <= size, `${published}, ${held} of ${size}: ${type}/${kind}`)
          assert.ok(
            size <= Math.max(published, held) + 120,
            `${size} is far more than ${published} and ${held}`,
          )
        }
      }),
    )
  })
})

suite('a row', () => {
  test('holds several requests as far as they fit, and the next one the others', async () => {
    using cluster = openTwo()
    const queue = cluster.node(0).queue()
    const requests = Array.from({ length: 4 }, (_, request) =>
      Array.from({ length: 3_000 }, (_draft, index) => tradeDraft(`${request}-${index}-${'é'.repeat(60)}`)),
    )
    const outcomes = await Promise.all(requests.map(queue.submit))
    assert.ok(outcomes.every(({ ok }) => ok))
    assert.equal(assertCarried(cluster), 2)
  })

  test('does not hold a request that is too large, which is refused', async () => {
    using cluster = openTwo()
    const drafts = Array.from({ length: 9_000 }, (_, index) => tradeDraft(`${index}-${'é'.repeat(120)}`))
    const outcome = await cluster.node(0).queue().submit(drafts)
    assert.equal(outcome.ok ? 'accepted' : outcome.code, 'too-large')
    assert.equal(assertCarried(cluster), 0)
  })
})
