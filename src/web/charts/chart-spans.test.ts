import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { elementsIn, parseMarkup } from '../../../test/web/parity/page-tree.ts'
import { plotOnPage } from './chart-plot.ts'
import { spanPlot } from './chart-spans.ts'

const DAY_MS = 86_400_000

function drawn(spans: Parameters<typeof spanPlot>[0]['spans'], nowMs: number): string {
  return plotOnPage(spanPlot({ id: 'x', title: 'T', description: 'D', nowMs, spans })).markup
}

/** Position and width of each bar, in per cent. */
function barsIn(markup: string): readonly (readonly [style: string, x: number, width: number])[] {
  return elementsIn(parseMarkup(markup))
    .filter(
      ({ name, attributes }) => name === 'rect' && attributes.has('height') && attributes.get('y') !== '100%',
    )
    .map(({ attributes }) => [
      attributes.get('class') ?? '',
      Number.parseFloat(attributes.get('x') ?? ''),
      Number.parseFloat(attributes.get('width') ?? ''),
    ])
}

suite('a chart of spans', () => {
  test('is well-formed for any spans, and each is visible', () => {
    const time = fc.integer({ min: 0, max: 400 * DAY_MS })
    const span = fc
      .record({ times: fc.tuple(time, time, time), name: fc.string() })
      .map(({ times, name }) => {
        const [fromMs = 0, beenMs = 0, toMs = 0] = times.toSorted((a, b) => a - b)
        return { mark: '#1', name, fromMs, beenMs, toMs }
      })
    fc.assert(
      fc.property(fc.array(span, { maxLength: 8 }), time, (spans, nowMs) => {
        const markup = drawn(spans, nowMs)
        assert.doesNotMatch(markup, /NaN|Infinity/)
        for (const [style, x, width] of barsIn(markup)) {
          assert.ok(x >= 0 && x <= 100 && width > 0 && x + width <= 100.5, `${style} ${x} ${width}`)
        }
      }),
    )
  })

  test('has a bar for the past, a pale one for the future, and a line at the last event', () => {
    const span = { mark: '#1', name: 'One', fromMs: 0, beenMs: DAY_MS, toMs: 4 * DAY_MS }
    const markup = drawn([span], DAY_MS)
    assert.deepEqual(barsIn(markup), [
      ['f1 pale', 25, 75],
      ['f1', 0, 25],
    ])
    assert.match(markup, /<line\s+class="axis"\s+x1="25%"\s+x2="25%"/)
  })

  test('has no line when the last event is out of range', () => {
    const span = { mark: '#1', name: 'One', fromMs: DAY_MS, beenMs: DAY_MS, toMs: 2 * DAY_MS }
    for (const nowMs of [0, 3 * DAY_MS]) assert.doesNotMatch(drawn([span], nowMs), /class="axis"/)
  })
})
