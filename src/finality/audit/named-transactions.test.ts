import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths } from '../../protocol/amount.ts'
import type { Entry } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { type ChosenTransactions, openNamedTransactions } from './named-transactions.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const keyOf = (number: number): Uint8Array => sha256(Buffer.from(String(number)))

/** A transaction of an EVM chain. */
const txOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`

/** Kind of an event of a test log: a payment that names a transaction, or the correction of an earlier event. */
type Step =
  | Readonly<{ is: 'payout' | 'play'; tx: string; kots: number }>
  | Readonly<{ is: 'correction'; seq: number }>

function entriesOf(steps: readonly Step[]): readonly Entry[] {
  return steps.map((step, index): Entry => {
    const seq = seqOf(index + 1)
    const common = { seq, atMs: msOf(index), contestId: null }
    if (step.is !== 'correction') {
      const { is, kots, tx } = step
      return {
        event: { ...common, type: is, kind: 'any', kots: billionths(BigInt(kots)), tx },
        details: null,
      }
    }
    const corrected = steps[step.seq - 1]
    assert.ok(corrected !== undefined && corrected.is !== 'correction')
    const kots = billionths(BigInt(-corrected.kots))
    return {
      event: { ...common, type: 'correction', kind: corrected.is, kots, tx: null },
      details: { corrects: seqOf(step.seq) },
    }
  })
}

function chosen(
  steps: readonly Step[],
  { key = 1, sample = 5, largest = 3, recentFrom = msOf(1e12) } = {},
): ChosenTransactions {
  const named = openNamedTransactions({
    key: keyOf(key),
    sha256,
    chain: 'evm',
    recentFrom,
    sample,
    largest,
    wanted: null,
  })
  for (const entry of entriesOf(steps)) named.add(entry)
  return named.choose()
}

/** Steps with few distinct transactions, and corrections that cancel each event once at most. */
const stepLists: fc.Arbitrary<readonly Step[]> = fc
  .array(
    fc.record({
      is: fc.constantFrom('payout' as const, 'play' as const),
      tx: fc.integer({ min: 1, max: 12 }).map(txOf),
      kots: fc.integer({ min: 1, max: 50 }),
      isCorrected: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((payments) => {
    const corrections = payments.flatMap(({ isCorrected }, index): readonly Step[] =>
      isCorrected ? [{ is: 'correction', seq: index + 1 }] : [],
    )
    return [...payments, ...corrections]
  })

suite('the transactions of a log', () => {
  test('are counted, listed with their events and summed net of corrections', () => {
    fc.assert(
      fc.property(stepLists, (steps) => {
        const corrected = new Set(steps.flatMap((step) => (step.is === 'correction' ? [step.seq] : [])))
        const expected = new Map<string, { seqs: number[]; paid: bigint }>()
        for (const [index, step] of steps.entries()) {
          if (step.is === 'correction' || corrected.has(index + 1)) continue
          const one = expected.get(step.tx) ?? { seqs: [], paid: 0n }
          one.seqs.push(index + 1)
          one.paid += step.is === 'payout' ? BigInt(step.kots) : 0n
          expected.set(step.tx, one)
        }
        const { total, sampled, largest } = chosen(steps, { sample: 12, largest: 4 })
        assert.equal(total, expected.size)
        assert.deepEqual(largest, [], 'those of the sample are not asked twice')
        assert.deepEqual(new Map(sampled.map(({ tx, seqs, paid }) => [tx, { seqs, paid }])), expected)
      }),
    )
  })

  test('with the largest payouts are found, whatever was corrected', () => {
    fc.assert(
      fc.property(stepLists, fc.nat(99), (steps, key) => {
        const all = chosen(steps, { key, sample: 12 }).sampled
        const { sampled, largest } = chosen(steps, { key, sample: 2, largest: 4 })
        const sums = all
          .map(({ paid }) => paid)
          .filter((paid) => paid > 0n)
          .toSorted((a, b) => Number(b - a))
        const least = sums[3] ?? 1n
        const known = new Set([...sampled, ...largest].map(({ tx }) => tx))
        for (const { tx, paid } of all) if (paid > least) assert.ok(known.has(tx), `${tx} of ${paid}`)
        for (const { paid } of largest) assert.ok(paid >= least)
      }),
    )
  })

  test('that no event names any more are neither counted nor drawn', () => {
    const steps: readonly Step[] = [
      { is: 'payout', tx: txOf(1), kots: 5 },
      { is: 'correction', seq: 1 },
      { is: 'payout', tx: txOf(2), kots: 5 },
    ]
    const { total, sampled } = chosen(steps)
    assert.equal(total, 1)
    assert.deepEqual(sampled, [{ tx: txOf(2), seqs: [3], paid: 5n, isRecent: false }])
  })

  test('are the same when only the case of their hex digits differs', () => {
    const steps: readonly Step[] = [
      { is: 'payout', tx: `0x${'AB'.repeat(32)}`, kots: 5 },
      { is: 'payout', tx: `0x${'ab'.repeat(32)}`, kots: 6 },
    ]
    const { total, sampled } = chosen(steps)
    assert.equal(total, 1)
    assert.deepEqual(sampled, [{ tx: `0x${'ab'.repeat(32)}`, seqs: [1, 2], paid: 11n, isRecent: false }])
  })

  test('are listed apart when they have not the form of the chain, until they are corrected', () => {
    const steps: readonly Step[] = [
      { is: 'payout', tx: 'no-hash', kots: 5 },
      { is: 'payout', tx: 'no-hash', kots: 5 },
      { is: 'correction', seq: 1 },
    ]
    const { total, malformed } = chosen(steps)
    assert.deepEqual([total, malformed], [0, [2]])
  })

  test('are recent while all events that name them are', () => {
    const steps: readonly Step[] = [
      { is: 'payout', tx: txOf(1), kots: 5 },
      { is: 'payout', tx: txOf(2), kots: 5 },
      { is: 'payout', tx: txOf(1), kots: 5 },
    ]
    const { sampled } = chosen(steps, { recentFrom: msOf(1) })
    assert.deepEqual(
      new Map(sampled.map(({ tx, isRecent }) => [tx, isRecent])),
      new Map([
        [txOf(1), false],
        [txOf(2), true],
      ]),
    )
  })

  test('are drawn with equal chances, however often an event names one', () => {
    // Transaction i is named i + 1 times. 400 keys draw 5 of 20, so each is expected 100 times.
    const steps = Array.from({ length: 20 }, (_, tx) =>
      Array.from({ length: tx + 1 }, (): Step => ({ is: 'play', tx: txOf(tx), kots: 1 })),
    ).flat()
    const drawn = new Map<string, number>()
    for (let key = 0; key < 400; key++) {
      const { sampled } = chosen(steps, { key })
      assert.equal(sampled.length, 5)
      for (const { tx } of sampled) drawn.set(tx, (drawn.get(tx) ?? 0) + 1)
    }
    const counts = Array.from({ length: 20 }, (_, tx) => drawn.get(txOf(tx)) ?? 0)
    const square = counts.reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0)
    // The 99.99% quantile of chi-squared with 19 degrees of freedom. The keys are fixed, so the test is too.
    assert.ok(square < 50, `${square} of ${counts.join()}`)
  })

  test('are kept in a table that grows', () => {
    const many = Array.from({ length: 70_000 }, (_, tx): Step => ({ is: 'play', tx: txOf(tx), kots: 1 }))
    const { total, sampled } = chosen([...many, ...many.slice(0, 5_000)], { sample: 300 })
    assert.equal(total, 70_000)
    assert.equal(new Set(sampled.map(({ tx }) => tx)).size, 300)
    for (const { tx, seqs } of sampled) assert.equal(txOf((seqs[0] ?? 0) - 1), tx)
  })
})
