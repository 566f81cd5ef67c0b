import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { computeAnswer } from '../../../test/story/memory-log.ts'
import { type EventSketch, logOf } from '../../../test/story/story.ts'
import type { Flows } from '../../protocol/endpoints/figure-endpoints.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { KINDS_MAX } from '../fold/tally.ts'

const RANGE = 'from=2026-10-01&to=2026-10-04'

const byKind = (sketches: readonly EventSketch[], query = RANGE): Parsed<Flows> =>
  computeAnswer(logOf(sketches).books(), 'flows', { query: `${query}&by=kind` })

const on = (day: number, is: EventSketch['is'], kots: string): EventSketch => ({
  at: `2026-10-0${day}T12:00:00.000Z`,
  is,
  kots,
  ...(is.startsWith('burn') ? {} : { contest: 1 }),
})

suite('flows by kind', () => {
  test('have the same kinds in each bucket: those with an amount in any, in alphabetical order', () => {
    const answer = byKind([
      on(1, 'play/vote', '2'),
      on(1, 'play/entry', '1'),
      on(2, 'payout/winner', '3'),
      on(2, 'payout/refund', '4'),
      on(2, 'play/tip', '0'),
      on(3, 'burn/platform_income', '5'),
      on(4, 'play/boost', '6'),
    ])
    assert.ok(answer.ok)
    const none = '0.000000000'
    assert.deepEqual(
      answer.value.buckets.map(({ spentByKind, paidByKind, burnedByKind }) => [
        spentByKind,
        paidByKind,
        burnedByKind,
      ]),
      [
        [{ entry: '1.000000000', vote: '2.000000000' }, { winner: none }, { platform_income: none }],
        [{ entry: none, vote: none }, { winner: '3.000000000' }, { platform_income: none }],
        [{ entry: none, vote: none }, { winner: none }, { platform_income: '5.000000000' }],
      ],
    )
    assert.equal(
      JSON.stringify(answer.value.buckets[0]?.spentByKind),
      '{"entry":"1.000000000","vote":"2.000000000"}',
    )
  })

  test('keep a kind whose correction cancels it in a later bucket', () => {
    const answer = byKind([
      on(1, 'play/vote', '2'),
      { at: '2026-10-02', is: 'correction/play', details: { corrects: 1 as never } },
    ])
    assert.ok(answer.ok)
    assert.deepEqual(
      answer.value.buckets.map(({ spentByKind }) => spentByKind?.['vote']),
      ['2.000000000', '-2.000000000', '0.000000000'],
    )
  })

  test('are refused beyond 50,000 amounts, with the buckets that fit and a wider bucket', () => {
    const all = (['play', 'payout', 'burn'] as const).flatMap((type) =>
      Array.from({ length: KINDS_MAX }, (_, index) => on(1, `${type}/kind_${index}`, '1')),
    )
    const hours = (count: number): string =>
      `from=2026-10-01&to=${new Date(Date.UTC(2026, 9, 1, count)).toISOString()}&bucket=hour`
    const max = 65
    const most = byKind(all, hours(max))
    assert.ok(most.ok)
    assert.equal(Object.keys(most.value.buckets[0]?.paidByKind ?? {}).length, KINDS_MAX)
    const refused = byKind(all, hours(max + 1))
    assert.ok(!refused.ok)
    assert.equal(refused.problem.code, 'too-many-buckets')
    assert.deepEqual(refused.problem.members, { requested: 66, max, bucket: 'day' })
    assert.equal(
      refused.problem.detail,
      'The range has 66 buckets; the limit is 65 with 768 kinds: `bucket=day` would fit.',
    )
  })
})
