import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { billionths, formatAmount } from '../../protocol/amount.ts'
import { type ChartWords, plotOnPage, type Series } from './chart-plot.ts'
import { barChart, linePlot } from './chart-line.ts'
import { type ChartValue, scaleOf } from '../markup/chart-scale.ts'
import { html } from '../markup/html.ts'
import { plainText } from '../markup/page-lead.ts'
import { stepPlot } from '../pages/contests/paid-chart.ts'

const HOUR_MS = 3_600_000
const amounts = fc
  .bigInt({ min: -(10n ** 24n), max: 10n ** 24n })
  .map((value) => formatAmount(billionths(value)))
const figures = fc.array(fc.option(amounts), { maxLength: 40 })

function drawnOf(all: readonly ChartValue[], unfinished = 0, drawn: Series['drawn'] = 'line'): string {
  const plot = linePlot({
    id: 'x',
    title: 'A <chart>',
    fromMs: 0,
    toMs: all.length * HOUR_MS,
    bucket: 'hour',
    starts: all.map((_, index) => new Date(index * HOUR_MS).toISOString()),
    unfinished,
    placement: 'middle',
    series: [{ name: 'Paid', field: 'paid', style: 2, drawn, figures: all }],
    size: 'tall',
    dated: true,
  })
  return plotOnPage(plot).markup
}

const pathIn = (markup: string): string => / d="([^"]*)"/.exec(markup)?.[1] ?? ''

/** Asserts that the markup is well-formed XML: nested tags and quoted attributes. */
function assertWellFormed(markup: string): void {
  const open: string[] = []
  for (const [, end, name = '', rest = ''] of markup.matchAll(/<(\/?)([a-z]+)((?:[^">]|"[^"]*")*)>/gi)) {
    if (end === '/') assert.equal(open.pop(), name)
    else if (!rest.endsWith('/')) open.push(name)
  }
  assert.deepEqual(open, [])
  assert.doesNotMatch(markup, /NaN|Infinity|undefined|null/)
}

suite('a line chart', () => {
  test('is well-formed for any figures: negative, huge, unknown or none', () => {
    fc.assert(
      fc.property(figures, fc.nat(3), fc.constantFrom('line', 'area', 'bars'), (all, unfinished, drawn) => {
        assertWellFormed(drawnOf(all, Math.min(unfinished, all.length), drawn))
      }),
    )
  })

  test('ends before a bucket that is not over, and bars are pale there', () => {
    const three = ['2.000000000', '2.000000000', '0.500000000']
    const pathsOf = (markup: string): readonly string[] =>
      [...markup.matchAll(/<path[^>]*>/g)].map(([path]) => path.replaceAll(/\s+/g, ' '))
    assert.deepEqual(pathsOf(drawnOf(three, 1)), ['<path class="s2" d="M166.7,162.5L500,162.5" />'])
    assert.deepEqual(pathsOf(drawnOf(three, 1, 'area')), [
      '<path class="f2 area" d="M166.7,162.5L500,162.5L500,1000L166.7,1000Z" />',
      '<path class="s2" d="M166.7,162.5L500,162.5" />',
    ])
    assert.deepEqual(pathsOf(drawnOf(three, 1, 'bars')), [
      '<path class="f2" d="M53.3,1000V162.5h226.7V1000zM386.7,1000V162.5h226.7V1000z" />',
      '<path class="f2 pale" d="M720,1000V790.6h226.7V1000z" />',
    ])
  })

  test('is broken at an unknown figure, and a figure between two gaps is a dot', () => {
    const markup = drawnOf([null, '1.000000000', '2.000000000', null, '1.000000000', null])
    assert.equal(pathIn(markup).match(/M/g)?.length, 2)
    assert.equal(markup.match(/<circle/g)?.length, 1)
  })

  test('of one bucket is a dot in its middle', () => {
    assert.match(drawnOf(['7.000000000']), /<circle\s+class="f2"\s+cx="50%"/)
  })

  test('of zeros is on the axis', () => {
    assert.equal(pathIn(drawnOf(['0.000000000', '0.000000000'])), 'M250,1000L750,1000')
  })

  test('of the most buckets of an answer has at most 6 KiB compressed', () => {
    const many = Array.from({ length: 1_500 }, (_, index) => `${(index * 7919) % 997}.000000000`)
    for (const drawn of ['line', 'area', 'bars'] as const) {
      const markup = drawnOf(many, 1, drawn)
      assert.ok(gzipSync(markup).length < 6 * 1024, `${gzipSync(markup).length} bytes`)
    }
  })

  test('of many buckets is broken at unknown figures too', () => {
    const some = Array.from({ length: 301 }, (_, index) => (index % 100 < 50 ? `${index}.000000000` : null))
    assert.equal(pathIn(drawnOf(some)).match(/M/g)?.length, 4)
    assert.equal(pathIn(drawnOf(some, 0, 'area')).match(/Z/g)?.length, 4)
  })

  test('describes its exact least, greatest and last figures, with their buckets', () => {
    const markup = drawnOf([
      null,
      '9007199254740993.000000002',
      '9007199254740993.000000001',
      '9007199254740993.000000003',
    ])
    assert.match(
      markup,
      /Paid: least 9007199254740993\.000000001 in the bucket of 1 Jan 1970 02:00:00 UTC, greatest 9007199254740993\.000000003 in the bucket of 1 Jan 1970 03:00:00 UTC, last 9007199254740993\.000000003\./,
    )
    assert.match(drawnOf([null]), /Paid: not known\./)
    assert.match(markup, /<title id="x-title">A &lt;chart&gt;<\/title>/)
  })
})

suite('a chart of steps', () => {
  test('is well-formed for any figures, and holds each until the next', () => {
    const step = fc.record({ atMs: fc.integer({ min: 0, max: HOUR_MS }), figure: amounts })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.constantFrom(0, HOUR_MS), (steps, toMs) => {
        const ordered = steps.toSorted((a, b) => a.atMs - b.atMs)
        const series = [{ label: 'Owed', style: 1, steps: ordered }] as const
        const plot = stepPlot({ id: 'x', title: 'T', description: 'D', fromMs: 0, toMs, series })
        assertWellFormed(plotOnPage(plot).markup)
      }),
    )
    const steps = [
      { atMs: 0, figure: '0.000000000' },
      { atMs: 500, figure: '1.000000000' },
    ]
    const plot = stepPlot({
      id: 'x',
      title: 'T',
      description: 'D',
      fromMs: 0,
      toMs: 1_000,
      series: [{ label: 'Owed', style: 1, steps }],
    })
    assert.equal(pathIn(plotOnPage(plot).markup), 'M0,1000L500,1000L500,181.8L1000,181.8L1000,181.8')
  })
})

suite('a chart of many steps', () => {
  const steps = Array.from({ length: 10_000 }, (_, index) => ({
    atMs: index * 997,
    figure: formatAmount(billionths(BigInt(index) * 1_234_567_891n)),
  }))
  const path = pathIn(
    plotOnPage(
      stepPlot({
        id: 'x',
        title: 'T',
        description: 'D',
        fromMs: 0,
        toMs: 10_000_000,
        series: [{ label: 'Paid', style: 1, steps }],
      }),
    ).markup,
  )

  test('has at most one step for each visible place, and a bounded size', () => {
    const places = [...path.matchAll(/[ML]([\d.]+),[\d.]+/g)].map(([, x]) => Number(x))
    assert.equal(places.join(), places.toSorted((a, b) => a - b).join())
    assert.ok(places.length < 2_100, `${places.length} points`)
    assert.ok(gzipSync(path).length < 8_192, `${gzipSync(path).length} bytes`)
  })

  test('starts at its first figure and ends at its last', () => {
    assert.match(path, /^M0,1000L/)
    const last = steps.at(-1)?.figure ?? ''
    assert.ok(path.endsWith(`,${Math.round(scaleOf([last], { head: 20 / 110 }).place(last) * 1_000)}`))
  })
})

suite('a chart of bars', () => {
  test('is well-formed for any figures', () => {
    const bar = fc.record({
      label: fc.string(),
      name: fc.string(),
      figure: amounts,
      unfinished: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(bar, { maxLength: 60 }), (bars) => {
        assertWellFormed(
          barChart({ id: 'x', title: 'T', description: 'D', bars }, html`Said`).markup.replaceAll(
            /<text[^]*?<\/text>/g,
            '',
          ),
        )
      }),
    )
  })

  test('has bars up from zero, and down when negative', () => {
    const { markup } = barChart(
      {
        id: 'x',
        title: 'T',
        description: 'D',
        bars: [
          { label: 'a', name: 'A', figure: '100.000000000' },
          { label: 'b', name: 'B', figure: '-100.000000000' },
        ],
      },
      html`Said`,
    )
    assert.match(markup, / d="M80,590\.9V181\.8h340V590\.9zM580,590\.9V1000h340V590\.9z"/)
  })
})

suite('the names on a chart', () => {
  const HIGH = 320
  const wordsOf = (spent: readonly string[], paid: readonly string[]): readonly ChartWords[] => {
    const line: Series = { name: 'Spent on play', field: 'spent', style: 1, drawn: 'area', figures: spent }
    const bars: Series = { name: 'Paid in prizes', field: 'paid', style: 2, drawn: 'bars', figures: paid }
    return linePlot({
      id: 'x',
      title: 'T',
      fromMs: 0,
      toMs: spent.length * 24 * HOUR_MS,
      bucket: 'day',
      starts: spent.map((_, index) => new Date(index * 24 * HOUR_MS).toISOString()),
      unfinished: 0,
      placement: 'middle',
      series: [line, bars],
      size: 'tall',
      dated: true,
      names: { bars, line, pointerOf: (index, field) => `/buckets/${index}/${field}` },
    }).words
  }
  const textOf = ({ rows }: ChartWords): string =>
    plainText(html`${rows.map(({ shown }) => html`${shown} `)}`)

  test('are the figure and the day of the highest bar, to which a line leads, and the name of the line', () => {
    const spent = Array.from({ length: 30 }, () => '129.000000000')
    const paid = spent.map((_, day) => (day === 12 ? '900.000000000' : '10.000000000'))
    const [bar, line] = wordsOf(spent, paid)
    assert.ok(bar !== undefined && line !== undefined)
    assert.deepEqual([bar, line].map(textOf), ['Paid in prizes: 900 13 Jan', 'Spent on play'])
    assert.equal(bar.lead, 52)
  })

  test('are whole and apart, and above all marks below them, for any figures', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 16n }).map((value) => formatAmount(billionths(value)))
    const both = fc
      .integer({ min: 1, max: 120 })
      .chain((length) =>
        fc.tuple(...[1, 2].map(() => fc.array(amount, { minLength: length, maxLength: length }))),
      )
    fc.assert(
      fc.property(both, ([spent = [], paid = []]) => {
        const boxes = wordsOf(spent, paid).map(({ rows, share, y, anchor }) => {
          // A phone's plot has 300 pixels, and a letter eight.
          const length = Math.max(...rows.map(({ shown }) => plainText(html`${shown}`).length * 7.2)) / 300
          const left = share - (anchor === 'start' ? 0 : anchor === 'end' ? length : length / 2)
          return { left, right: left + length, top: y - 12, bottom: y + (rows.length - 1) * 16 + 4 }
        })
        for (const { left, right, top, bottom } of boxes)
          assert.ok(left >= 0 && right <= 1 && top >= 0 && bottom <= HIGH)
        const [bar, line] = boxes
        if (bar !== undefined && line !== undefined) assert.ok(bar.bottom <= line.top)
      }),
      { numRuns: 60 },
    )
  })
})
