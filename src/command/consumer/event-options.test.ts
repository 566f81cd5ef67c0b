import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { formatAt, msOf } from '../../protocol/moment.ts'
import { monthRange, pastTimeOption, timeOption } from './event-options.ts'

const NOW = msOf(Date.UTC(2026, 9, 3, 12))
const read = timeOption(() => NOW)

suite('a moment of an option', () => {
  const table: readonly (readonly [text: string, at: string])[] = [
    ['2026-09-01', '2026-09-01T00:00:00.000Z'],
    ['2026-09-01T12:00Z', '2026-09-01T12:00:00.000Z'],
    ['2026-09', '2026-09-01T00:00:00.000Z'],
    ['2026-09-01 12:00:00.5+00', '2026-09-01T12:00:00.500Z'],
    ['2026-09-01T12:00:00,123456789+00:00', '2026-09-01T12:00:00.123Z'],
    ['1790000000000', '2026-09-21T14:13:20.000Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
    ['90s', '2026-10-03T11:58:30.000Z'],
    ['5m', '2026-10-03T11:55:00.000Z'],
    ['2h', '2026-10-03T10:00:00.000Z'],
    ['7d', '2026-09-26T12:00:00.000Z'],
    ['1w', '2026-09-26T12:00:00.000Z'],
    ['999999w', '1970-01-01T00:00:00.000Z'],
  ]
  for (const [text, at] of table) test(`is read: ${text}`, () => assert.equal(formatAt(read(text)), at))

  for (const text of [
    '',
    'yesterday',
    '2026-02-30',
    '2026-09-01T12:00',
    '2026-09-01T12:00+02:00',
    '2y',
    '-2h',
  ]) {
    test(`is refused: ${JSON.stringify(text)}`, () => assert.throws(() => read(text), InvalidArgumentError))
  }

  test('in seconds is refused with a question about milliseconds', () => {
    assert.throws(() => read('1790000000'), /did you mean milliseconds\?/)
  })

  test('is refused with the reason', () => {
    const reasons: readonly (readonly [text: string, reason: RegExp])[] = [
      ['2026-02-30', /names a day or a time of day that does not exist$/],
      ['2026-13', /does not exist$/],
      ['2026-09-01T25:00Z', /does not exist$/],
      ['1969-12-31', /from 1970 to 9999$/],
      ['2026-09-01T12:00', /has no time zone: end it with Z/],
      ['2026-09-01T12:00+02:00', /give the same moment as 2026-09-01T10:00:00\.000Z$/],
      ['2026-9', /did you mean 2026-09-01T00:00:00\.000Z\?$/],
      ['2026', /did you mean milliseconds\?/],
      ['yesterday', /give one of 2026-09-01, /],
    ]
    for (const [text, reason] of reasons) assert.throws(() => read(text), reason, text)
  })

  test('in the future is refused where reading begins at it', () => {
    const past = pastTimeOption(() => NOW)
    assert.equal(past(String(NOW)), NOW)
    assert.throws(() => past(String(NOW + 1)), /in the future/)
    assert.throws(() => past('2027'), InvalidArgumentError)
  })
})

suite('months of an option', () => {
  const table: readonly (readonly [text: string, from: string | null, to: string | null])[] = [
    ['2026-09', '2026-09', '2026-09'],
    ['2026-01..2026-09', '2026-01', '2026-09'],
    ['2026-01..', '2026-01', null],
    ['..2026-09', null, '2026-09'],
  ]
  for (const [text, from, to] of table) {
    test(`are read: ${text}`, () => assert.deepEqual(monthRange(text), { from, to }))
  }

  for (const text of [
    '',
    '..',
    '2026',
    '2026-13',
    '2026-1..2026-9',
    '2026-09..2026-01',
    '2026-01..2026-02..2026-03',
  ]) {
    test(`are refused: ${JSON.stringify(text)}`, () =>
      assert.throws(() => monthRange(text), InvalidArgumentError))
  }
})
