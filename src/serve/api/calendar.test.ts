import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assertCalendar, valuesOf } from '../../../test/stage/icalendar.ts'
import type { Ms } from '../../protocol/moment.ts'
import { formatAt, HOUR_MS, msOf } from '../../protocol/moment.ts'
import { CALENDAR_ENTRIES_MAX } from '../../protocol/parameters.ts'
import type { Schedule } from '../../protocol/resources.ts'
import { openScheduleCalendar } from './calendar.ts'

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
  const feed = openScheduleCalendar('example.org/daybook')(scheduleOf('Grand Cup'))
  const values = (name: string): readonly string[] => valuesOf(feed, name)

  test('is a valid calendar', () => assertCalendar(feed))

  test('names its product as a formal public identifier', () => {
    assert.deepEqual(values('PRODID'), ['-//Daybook//Schedule//EN'])
    assert.deepEqual(values('VERSION'), ['2.0'])
  })

  test('gives each event a start and no end', () => {
    assert.deepEqual(values('DTSTART'), ['20261003T120000Z', '20261003T120000Z', '20261003T120000Z'])
    assert.deepEqual(values('DTEND'), [])
    assert.deepEqual(values('DTSTAMP').length, 3)
  })

  test('gives each event a unique identifier', () => {
    assert.deepEqual(values('UID'), [
      'contest-7-opens@example.org/daybook',
      'contest-7-closes@example.org/daybook',
      'loyalty-2026-09@example.org/daybook',
    ])
  })

  test('escapes titles, and folds lines at 75 octets between characters', () => {
    const title = `A; b, c \\ ${'日本語🎉é'.repeat(30)}`
    const long = openScheduleCalendar('example.org')(scheduleOf(title))
    assertCalendar(long)
    const summary = `Contest 7 (A\\; b\\, c \\\\ ${'日本語🎉é'.repeat(30)}) opens`
    assert.equal(valuesOf(long, 'SUMMARY')[0], summary)
  })
})

/** A schedule with `count` openings in descending order, and a closing before all of them. */
function manyPlans(count: number, asOfMs: Ms = AT): Schedule {
  const planned = (contestId: number): Schedule['opens'][number] => {
    const atMs = msOf(AT + contestId * HOUR_MS)
    return { contestId, title: `Contest of the hour ${contestId}`, at: formatAt(atMs), atMs }
  }
  return {
    asOf: { seq: 9, at: formatAt(asOfMs), atMs: asOfMs },
    opens: Array.from({ length: count }, (_, index) => planned(count - index)),
    closes: [planned(0)],
    nextLoyaltyPayment: null,
  }
}

suite('the calendar feed of many plans', () => {
  test('has only the soonest, and states that it is cut', () => {
    const feed = openScheduleCalendar('example.org')(manyPlans(10_200))
    assertCalendar(feed)
    const ids = valuesOf(feed, 'UID')
    assert.equal(ids.length, CALENDAR_ENTRIES_MAX)
    assert.equal(ids.at(-1), 'contest-0-closes@example.org')
    assert.equal(ids.at(0), `contest-${CALENDAR_ENTRIES_MAX - 1}-opens@example.org`)
    assert.match(feed.replaceAll('\r\n ', ''), /X-WR-CALDESC:[^\r]* Only the soonest 500 are named\./)
  })

  test('with all of them does not say so', () => {
    assert.doesNotMatch(openScheduleCalendar('example.org')(manyPlans(3)), /Only the soonest/)
  })

  test('gets a new stamp with each event, and is formatted again only when a plan changes', () => {
    const kept = openScheduleCalendar('example.org')
    const anew = (schedule: Schedule): string => openScheduleCalendar('example.org')(schedule)
    const timed = (make: () => string): number => {
      const startMs = performance.now()
      make()
      return performance.now() - startMs
    }
    const first = manyPlans(400)
    assert.equal(kept(first), anew(first))
    const heads = Array.from({ length: 5 }, (_, index) => manyPlans(400, msOf(AT + index * HOUR_MS)))
    for (const later of heads) assert.equal(kept(later), anew(later))
    const keptMs = Math.min(...heads.map((later) => timed(() => kept(later))))
    const anewMs = Math.min(...heads.map((later) => timed(() => anew(later))))
    assert.ok(keptMs < anewMs / 4, `${keptMs} ms of ${anewMs}`)
    for (const other of [manyPlans(399), scheduleOf('Grand Cup'), scheduleOf(null), first]) {
      assert.equal(kept(other), anew(other))
    }
  })
})
