import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { formatAt, msOf } from '../../protocol/moment.ts'
import type { Schedule } from '../../protocol/resources.ts'
import { formatCalendar } from './calendar.ts'

const AT = msOf(Date.UTC(2026, 9, 3, 12))
const NOON = { at: formatAt(AT), atMs: AT }

function scheduleOf(title: string | null): Schedule {
  const planned = { contestId: 7, title, ...NOON }
  return {
    asOf: { seq: 9, ...NOON },
    opens: [planned],
    closes: [planned],
    nextLoyaltyPayment: { month: '2026-09', ...NOON },
  }
}

suite('the calendar feed', () => {
  const feed = formatCalendar(scheduleOf('Grand Cup'), 'example.org/daybook')
  const values = (name: string): readonly string[] =>
    [...feed.matchAll(new RegExp(`^${name}:(.*)\r$`, 'gm'))].map(([, value = '']) => value)

  test('names what made it in the form of a public identifier', () => {
    assert.deepEqual(values('PRODID'), ['-//Daybook//Schedule//EN'])
    assert.deepEqual(values('VERSION'), ['2.0'])
  })

  test('gives each event a moment without a length: an end that is not later is not allowed', () => {
    assert.deepEqual(values('DTSTART'), ['20261003T120000Z', '20261003T120000Z', '20261003T120000Z'])
    assert.deepEqual(values('DTEND'), [])
    assert.deepEqual(values('DTSTAMP').length, 3)
  })

  test('gives each event an identifier of its own', () => {
    assert.deepEqual(values('UID'), [
      'contest-7-opens@example.org/daybook',
      'contest-7-closes@example.org/daybook',
      'loyalty-2026-09@example.org/daybook',
    ])
  })

  test('escapes titles, and folds lines at 75 octets and never within a character', () => {
    const title = `A; b, c \\ ${'日本語🎉é'.repeat(30)}`
    const lines = Buffer.from(formatCalendar(scheduleOf(title), 'example.org'))
      .toString('latin1')
      .split('\r\n')
    assert.equal(lines.pop(), '')
    const decoded = lines.map((line) => Buffer.from(line, 'latin1').toString('utf8'))
    assert.ok(lines.every((line) => line.length <= 75 && !line.includes('\n')))
    assert.ok(decoded.every((line) => !line.includes('\uFFFD')))
    const unfolded = decoded.join('\r\n').replaceAll('\r\n ', '')
    assert.ok(unfolded.includes(`SUMMARY:Contest 7 (A\\; b\\, c \\\\ ${'日本語🎉é'.repeat(30)}) opens`))
  })
})
