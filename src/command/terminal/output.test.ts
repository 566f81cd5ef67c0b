import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { EventWire } from '../../protocol/event.ts'
import { formatAnswer } from '../consumer/output-answer.ts'
import { groupAmount, openEventsText } from '../consumer/output-events.ts'
import { printable, shellQuoted } from './output.ts'

const event: EventWire = {
  seq: 184_224,
  type: 'payout',
  kind: 'voter_share',
  at: '2026-10-03T11:22:33.123Z',
  atMs: 1_791_026_553_123,
  contestId: 42,
  kots: '1204.345678901',
  tx: 'f68c136122334455667788990db865',
}

suite('CSV of events', () => {
  test('has no cell that a spreadsheet takes for a formula', () => {
    const text = openEventsText('csv', { columns: 0, drawn: false })([
      { ...event, kots: '-1.000000000', tx: '-1-cmd_calc' },
    ])
    assert.ok(text.endsWith(",42,-1.000000000,'-1-cmd_calc\r\n"), text)
  })
})

suite('a table of events', () => {
  const table = (columns: number, ...events: readonly EventWire[]): string =>
    openEventsText('table', { columns, drawn: false })(events)

  test('has one heading for each day and one row for each event', () => {
    const next = { ...event, seq: 184_225, kots: null, tx: null, contestId: null }
    assert.equal(
      table(200, event, next),
      [
        '2026-10-03 (UTC)',
        '  184224  11:22:33  payout voter_share        42       1,204.345678901  f68c136122334455667788990db865',
        '  184225  11:22:33  payout voter_share',
        '',
      ].join('\n'),
    )
  })

  test('shortens the transaction to the width of the terminal, and leaves it out where it would identify nothing', () => {
    assert.match(table(100, event), / f68c1361…0db865|f68c1361…990db865/)
    assert.match(table(80, event), / f68…865$/m)
    assert.doesNotMatch(table(60, event), /…/)
  })

  test('replaces control characters of the text from a service', () => {
    const evil = { ...event, kind: 'a\u001b[2Jb', tx: '\u009b31m' }
    // oxlint-disable-next-line no-control-regex -- none is left
    assert.doesNotMatch(table(200, evil), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    assert.equal(formatAnswer({ title: 'x\u001b]0;y\u0007' }, false), 'title  x\ufffd]0;y\ufffd\n')
  })
})

suite('an answer as a table', () => {
  test('has figures, then lists; moments once, as text; numbers aligned right', () => {
    const answer = {
      asOf: { seq: 3, at: '2026-10-01T00:00:00.000Z', atMs: 1 },
      total: '1234567.000000000',
      next: null,
      rows: [
        { id: 1, title: 'One', kots: '5.000000000', at: 'x', atMs: 1 },
        { id: 22, title: null, kots: '12345.000000000', at: 'y', atMs: 2 },
      ],
    }
    assert.equal(
      formatAnswer(answer, false),
      `asOf.seq  3
asOf.at   2026-10-01T00:00:00.000Z
total     1,234,567.000000000
next      –

rows
id  title              kots  at
 1  One         5.000000000  x
22  –      12,345.000000000  y
`,
    )
  })

  test('is made from any JSON value', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => typeof formatAnswer(value, true) === 'string'))
  })
})

test('grouping the digits of an amount keeps every digit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (whole) => {
      assert.equal(groupAmount(`-${whole}.000000001`).replaceAll(',', ''), `-${whole}.000000001`)
    }),
  )
  assert.equal(groupAmount('-1234.000000000'), '-1,234.000000000')
  assert.equal(groupAmount('-123.000000000'), '-123.000000000')
})

test('a quoted word is read back unchanged by a shell', () => {
  const words = ['plain', 'with space', `it's`, '$(id)', '', '`x`', 'a\\b', '--type']
  const printed = execFileSync('sh', ['-c', `printf '%s\\n' ${words.map(shellQuoted).join(' ')}`], {
    encoding: 'utf8',
  })
  assert.deepEqual(printed.split('\n').slice(0, -1), words)
})

test('text without control characters is unchanged', () => {
  assert.equal(printable('Weekly Round 43: Brücken – 橋'), 'Weekly Round 43: Brücken – 橋')
})
