import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { DetailedEvent } from '../../src/client/event-details.ts'
import { type EventSums, type FindEvent, sumOf } from '../../src/client/event-sums.ts'
import { formatAmount, parseAmount } from '../../src/protocol/amount.ts'
import { formatDetails } from '../../src/protocol/details.ts'
import { type Entry, formatEvent } from '../../src/protocol/event.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { Summary } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { summary } from '../../src/project/answers/summary.ts'
import { openMemoryLog } from '../story/memory-log.ts'
import { randomLogs } from '../story/random-log.ts'

const FIGURES = ['spentOnPlay', 'paidInPrizes', 'paidInLoyalty', 'burned'] as const

/** An event as the client yields it. */
const detailedOf = ({ event, details }: Entry): DetailedEvent => ({
  event: JSON.parse(formatEvent(event)),
  details: details === null ? null : JSON.parse(formatDetails(details)),
})

/** The figures as of the last event that a log has at a moment, or before it. */
function summariesOf(entries: readonly Entry[]): (atMs: number) => Summary {
  const log = openMemoryLog()
  for (const entry of entries) log.add(entry)
  const books = log.books()
  return (atMs) => summary(books, msOf(atMs))
}

function difference(later: Summary, earlier: Summary): Readonly<Record<keyof EventSums, bigint>> {
  const of = (figure: keyof EventSums): bigint =>
    (parseAmount(later[figure]) ?? 0n) - (parseAmount(earlier[figure]) ?? 0n)
  return {
    spentOnPlay: of('spentOnPlay'),
    paidInPrizes: of('paidInPrizes'),
    paidInLoyalty: of('paidInLoyalty'),
    burned: of('burned'),
  }
}

suite('sumOf', () => {
  test('gives the difference of two summaries for the events between them, in any order', async () => {
    const picks = fc.tuple(fc.nat(), fc.nat(), fc.boolean())
    await fc.assert(
      fc.asyncProperty(randomLogs, picks, async (entries, [first, last, isBackwards]) => {
        if (entries.length === 0) return
        const summaryAt = summariesOf(entries)
        const moments = [first, last].map((pick) => entries[pick % entries.length]?.event.atMs ?? 0)
        const [fromMs, toMs] = [Math.min(...moments), Math.max(...moments) + 1]
        const due = entries.filter(({ event }) => event.atMs >= fromMs && event.atMs < toMs).map(detailedOf)
        const find: FindEvent = (seq) => Promise.resolve(entries[seq - 1]?.event ?? assert.fail())
        const sums = await sumOf(isBackwards ? due.toReversed() : due, find)
        assert.deepEqual(sums, difference(summaryAt(toMs - 1), summaryAt(fromMs - 1)))
      }),
    )
  })

  test('needs only the types of the figures, and their corrections', async () => {
    await fc.assert(
      fc.asyncProperty(randomLogs, async (entries) => {
        const due = entries
          .map(detailedOf)
          .filter(({ event: { type } }) => /^(?:payout|correction)$/.test(type))
        const head = entries.at(-1)?.event.atMs ?? 0
        const { paidInPrizes, paidInLoyalty } = await sumOf(due)
        const whole = summariesOf(entries)(head)
        assert.deepEqual([paidInPrizes, paidInLoyalty].map(formatAmount), [
          whole.paidInPrizes,
          whole.paidInLoyalty,
        ])
      }),
    )
  })

  const payout = (seq: number, kind: string, kots: string): DetailedEvent => ({
    event: { seq, type: 'payout', kind, at: '', atMs: 0, contestId: 1, kots, tx: null },
    details: null,
  })
  const correction = (seq: number, corrects: number | null, kots: string): DetailedEvent => ({
    event: { seq, type: 'correction', kind: 'payout', at: '', atMs: 0, contestId: 1, kots, tx: null },
    details: corrects === null ? null : { corrects },
  })

  test('takes a correction off the figure of the event that it cancels', async () => {
    const sums = await sumOf([
      payout(1, 'winner', '5.000000000'),
      payout(2, 'refund', '3.000000000'),
      payout(3, 'loyalty', '2.000000000'),
      payout(4, 'winner', '9223372036854775807.000000001'),
      correction(5, 2, '-3.000000000'),
      correction(6, 3, '-2.000000000'),
      correction(7, 1, '-5.000000000'),
    ])
    for (const figure of FIGURES) {
      const due = figure === 'paidInPrizes' ? '9223372036854775807.000000001' : '0.000000000'
      assert.equal(formatAmount(sums[figure]), due)
    }
  })

  test('asks for a cancelled event that is not among the events, and rejects when it cannot', async () => {
    const asked: number[] = []
    const find: FindEvent = (seq) => {
      asked.push(seq)
      return Promise.resolve({ kind: 'winner' })
    }
    const sums = await sumOf([correction(9, 4, '-1.500000000')], find)
    assert.deepEqual([formatAmount(sums.paidInPrizes), asked], ['-1.500000000', [4]])
    await assert.rejects(sumOf([correction(9, 4, '-1.500000000')]), {
      name: 'RangeError',
      message: /^seq 9 corrects seq 4, which is not among the events: pass daybook\.event/,
    })
    await assert.rejects(sumOf([correction(9, null, '-1.500000000')], find), {
      name: 'RangeError',
      message: /details: true/,
    })
  })

  test('refuses events without details, and says how to read them', async () => {
    const alone: object = correction(9, 4, '-1.500000000').event
    await assert.rejects(sumOf([alone as DetailedEvent]), { name: 'RangeError', message: /details: true/ })
  })
})
