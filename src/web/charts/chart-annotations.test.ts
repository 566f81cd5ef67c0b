import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths, formatAmount } from '../../protocol/amount.ts'
import type { Series } from './chart-plot.ts'
import { linePlot } from './chart-line.ts'
import { type ChartWords, PLOT_WIDTHS, wordsWidth } from './chart-words.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

function wordsOf(spent: readonly string[], paid: readonly string[], launchMs = -1): readonly ChartWords[] {
  const line: Series = { name: 'Spent on play', style: 1, drawn: 'area', figures: spent }
  const bars: Series = { name: 'Paid in prizes', style: 2, drawn: 'bars', figures: paid }
  const pointerOf = (index: number, field: string): string => `/buckets/${index}/${field}`
  return linePlot({
    id: 'x',
    title: 'T',
    fromMs: 0,
    toMs: spent.length * DAY_MS,
    bucket: 'day',
    starts: spent.map((_, index) => new Date(index * DAY_MS).toISOString()),
    unfinished: 0,
    placement: 'middle',
    series: [line, bars],
    size: 'tall',
    dated: true,
    annotations: [
      { at: 'peak', series: bars, pointerOf },
      { at: 'name', series: line },
      { at: 'last', series: line, pointerOf },
      { at: 'moment', atMs: launchMs, text: 'Launch', pointer: '/launchedAt' },
    ],
  }).words
}

const textOf = ({ rows }: ChartWords): string => rows.map(({ text }) => text).join(' | ')
const kots = (value: number): string => `${value}.000000000`

suite('the words at the marks of a chart', () => {
  test('are the line’s name and last figure, and the highest bar’s figure and day', () => {
    const spent = Array.from({ length: 30 }, () => kots(129))
    const paid = spent.map((_, day) => kots(day === 12 ? 900 : 10))
    const wide = wordsOf(spent, paid, 5 * DAY_MS).filter(({ only }) => only !== 'narrow')
    assert.deepEqual(wide.map(textOf), [
      'Paid in prizes: 900 | 13 Jan',
      'Spent on play',
      'Launch | 6 Jan',
      '129 30 Jan',
    ])
  })

  test('stand above all marks when a bar is lower than the line beside it, and a line leads to it', () => {
    const spent = Array.from({ length: 30 }, (_, day) => kots(1_000 + (day % 2)))
    const paid = spent.map((_, day) => kots(day === 15 ? 500 : 0))
    const [peak] = wordsOf(spent, paid)
    assert.equal(peak?.rows[0]?.text, 'Paid in prizes: 500')
    assert.ok(peak.lead !== undefined && peak.y < 44 && peak.lead > 100)
  })

  test('name further bars of at least half the height, apart from each other, in wide charts only', () => {
    const spent = Array.from({ length: 60 }, () => kots(1))
    const paid = spent.map((_, day) => kots({ 10: 900, 12: 800, 30: 600, 50: 400 }[day] ?? 0))
    const further = wordsOf(spent, paid).filter((words) => textOf(words).startsWith('600'))
    assert.deepEqual(
      further.map((words) => [textOf(words), words.only]),
      [['600 | 31 Jan', 'wide']],
    )
    assert.ok(wordsOf(spent, paid).every((words) => !/^[48]00/.test(textOf(words))))
  })

  test('are whole and apart at the narrowest plot of each kind, for any figures', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 16n }).map((value) => formatAmount(billionths(value)))
    const figures = fc
      .integer({ min: 1, max: 120 })
      .chain((length) =>
        fc.tuple(
          fc.array(amount, { minLength: length, maxLength: length }),
          fc.array(amount, { minLength: length, maxLength: length }),
          fc.integer({ min: 0, max: length * DAY_MS }),
        ),
      )
    fc.assert(
      fc.property(figures, ([spent, paid, launchMs]) => {
        const words = wordsOf(spent, paid, launchMs)
        for (const only of ['wide', 'narrow'] as const) {
          const width = PLOT_WIDTHS[only]
          const boxes = words
            .filter((one) => one.only === null || one.only === only)
            .map(({ rows, share, dx, y, anchor }) => {
              const length = Math.max(...rows.map(({ text, style }) => wordsWidth(text, style !== undefined)))
              const left =
                share * width + dx - (anchor === 'start' ? 0 : anchor === 'end' ? length : length / 2)
              return { left, right: left + length, top: y - 12, bottom: y + (rows.length - 1) * 16 }
            })
          for (const [index, one] of boxes.entries()) {
            assert.ok(one.left >= 0 && one.right <= width && one.top >= 0 && one.bottom <= 320)
            for (const other of boxes.slice(index + 1)) {
              const apart = one.right < other.left || other.right < one.left
              assert.ok(apart || one.bottom <= other.top || other.bottom <= one.top)
            }
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})
