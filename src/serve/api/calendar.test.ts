import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { assertCalendar, valuesOf } from '../../../test/stage/icalendar.ts'
import { endless, LAUNCH, plan, type StoryEvent } from '../../../test/story/api-story.ts'
import { DAY_MS, HOUR_MS, msOf, parseMonth } from '../../protocol/moment.ts'
import { CALENDAR_ENTRIES_MAX } from '../../protocol/parameters.ts'
import { seqOf } from '../../protocol/seq.ts'
import * as fc from 'fast-check'
import ical from 'ical-generator'
import { openCalendar } from './calendar.ts'

const ORIGIN = 'daybook.test/api'
const MONTH = parseMonth('2026-09') ?? assert.fail('a month')

const moved = (contestId: number, opensInDays: number, closesInDays: number): StoryEvent => {
  const at = (days: number) => msOf(LAUNCH + days * DAY_MS)
  const details = { opensAt: at(opensInDays), closesAt: at(closesInDays) }
  return { type: 'contest', kind: 'rescheduled', contestId, details }
}

const turned = (contestId: number, kind: string): StoryEvent => ({ type: 'contest', kind, contestId })

const loyalty = (paysInDays: number): StoryEvent => {
  const details = { month: MONTH, paysAt: msOf(LAUNCH + paysInDays * DAY_MS) }
  return { type: 'loyalty', kind: 'scheduled', details }
}

async function feedOf(stage: ApiStage, path = '/api/v1/schedule.ics'): Promise<string> {
  const response = await stage.get(path)
  const feed = await response.text()
  assertCalendar(feed)
  return feed
}

/** Revision of each entry by the start of its UID: `SEQUENCE`, and the minute of the story in `DTSTAMP`. */
async function revisionsOf(stage: ApiStage): Promise<Readonly<Record<string, string>>> {
  const [feed, other] = [await feedOf(stage), await feedOf(stage, '/schedule.ics')]
  for (const name of ['UID', 'SEQUENCE', 'DTSTAMP', 'DTSTART'])
    assert.deepEqual(valuesOf(other, name), valuesOf(feed, name), name)
  const stamps = valuesOf(feed, 'DTSTAMP')
  const sequences = valuesOf(feed, 'SEQUENCE')
  return Object.fromEntries(
    valuesOf(feed, 'UID').map((uid, index) => {
      const [, minute = ''] = /^20261001T00(\d\d)00Z$/.exec(stamps[index] ?? '') ?? []
      return [uid.replace(`@${ORIGIN}`, ''), `${sequences[index]} at minute ${Number(minute)}`]
    }),
  )
}

suite('the calendar feed', () => {
  test('is a valid calendar with a start, no end and a unique identifier for each entry', async () => {
    await using stage = await openApiStage({ story: [plan(7, 'Grand Cup', 2.5 * DAY_MS), loyalty(9)] })
    const feed = await feedOf(stage)
    assert.deepEqual(valuesOf(feed, 'PRODID'), ['-//Daybook//Schedule//EN'])
    assert.deepEqual(valuesOf(feed, 'VERSION'), ['2.0'])
    assert.deepEqual(valuesOf(feed, 'DTSTART'), ['20261003T120000Z', '20261004T120000Z', '20261010T000000Z'])
    assert.deepEqual(valuesOf(feed, 'DTEND'), [])
    assert.deepEqual(valuesOf(feed, 'UID'), [
      `contest-7-opens@${ORIGIN}`,
      `contest-7-closes@${ORIGIN}`,
      `loyalty-2026-09@${ORIGIN}`,
    ])
  })

  test('escapes titles, and folds lines at 75 octets between characters', async () => {
    const title = `A; b, c \\ ${'日本語🎉é'.repeat(30)}`
    await using stage = await openApiStage({ story: [plan(7, title, DAY_MS)] })
    const summary = `Contest 7 (A\\; b\\, c \\\\ ${'日本語🎉é'.repeat(30)}) opens`
    assert.equal(valuesOf(await feedOf(stage), 'SUMMARY')[0], summary)
  })

  test('has a higher SEQUENCE for each move of a date, and the DTSTAMP of the event that changed the entry', async () => {
    // One event a minute, from minute 0 on.
    await using stage = await openApiStage({
      story: [plan(1, 'First', DAY_MS), plan(2, null, DAY_MS), loyalty(9)],
    })
    const first = {
      'contest-1-opens': '0 at minute 0',
      'contest-2-opens': '0 at minute 1',
      'contest-1-closes': '0 at minute 0',
      'contest-2-closes': '0 at minute 1',
      'loyalty-2026-09': '0 at minute 2',
    }
    const told = { ...first }
    const after = async (event: StoryEvent, changes: Partial<typeof first>): Promise<void> => {
      stage.append([event])
      Object.assign(told, changes)
      assert.deepEqual(await revisionsOf(stage), told)
    }
    assert.deepEqual(await revisionsOf(stage), first)
    // One of two dates moves: minute 3.
    await after(moved(2, 1, 3), { 'contest-2-closes': '1 at minute 3' })
    await after(moved(2, 1.5, 4), { 'contest-2-opens': '1 at minute 4', 'contest-2-closes': '2 at minute 4' })
    // A date that moves back has moved again.
    await after(moved(2, 1.5, 3), { 'contest-2-closes': '3 at minute 5' })
    await after(moved(2, 1.5, 3), {})
    await after(moved(1, 2, 2.5), { 'contest-1-opens': '1 at minute 7', 'contest-1-closes': '1 at minute 7' })
    await after({ type: 'trade', kind: 'buy', kots: '1' }, {})
    // A new title changes both entries and moves none.
    const details = { title: 'Renamed' }
    await after(
      { type: 'contest', kind: 'renamed', contestId: 1, details },
      { 'contest-1-opens': '1 at minute 9', 'contest-1-closes': '1 at minute 9' },
    )
    await after(loyalty(10), { 'loyalty-2026-09': '1 at minute 10' })
    await after(loyalty(10), {})
    // The correction of the newest plan leaves one of the same day.
    await after({ type: 'correction', kind: 'loyalty', details: { corrects: seqOf(12) } }, {})
    await after(
      { type: 'correction', kind: 'loyalty', details: { corrects: seqOf(11) } },
      { 'loyalty-2026-09': '2 at minute 13' },
    )
  })

  test('has no close of a contest without an announced end, until it is announced', async () => {
    await using stage = await openApiStage({ story: [endless(1, DAY_MS)] })
    assert.deepEqual(Object.keys(await revisionsOf(stage)), ['contest-1-opens'])
    assert.match(await (await stage.get('/api/v1/schedule')).text(), /"closes":\[\]/)
    stage.append([moved(1, 1, 2)])
    assert.equal((await revisionsOf(stage))['contest-1-closes'], '1 at minute 1')
  })

  test('has the same bytes and the same ETag until a plan changes', async () => {
    await using stage = await openApiStage()
    for (const path of ['/api/v1/schedule.ics', '/schedule.ics', '/payouts.ics']) {
      const first = await stage.get(path)
      const text = await first.text()
      stage.trade(3)
      const later = await stage.get(path)
      assert.equal(await later.text(), text, path)
      assert.equal(later.headers.get('etag'), first.headers.get('etag'), path)
    }
  })

  test('keeps the entries of a cancelled contest with STATUS:CANCELLED and a higher SEQUENCE', async () => {
    await using stage = await openApiStage({
      story: [plan(1, 'First', DAY_MS), plan(2, null, DAY_MS), turned(2, 'opened')],
    })
    assert.doesNotMatch(await feedOf(stage), /^STATUS/m)
    stage.append([moved(2, 1, 3), turned(1, 'cancelled'), turned(2, 'cancelled')])
    assert.deepEqual(await revisionsOf(stage), {
      'contest-2-closes': '2 at minute 5',
      'contest-1-opens': '1 at minute 4',
      'contest-1-closes': '1 at minute 4',
    })
    const feed = await feedOf(stage)
    assert.deepEqual(valuesOf(feed, 'STATUS'), ['CANCELLED', 'CANCELLED', 'CANCELLED'])
    stage.append([turned(1, 'paid'), turned(2, 'paid')])
    assert.equal(await feedOf(stage), feed)
  })

  test('of a contest that was never planned begins with its first event', async () => {
    await using stage = await openApiStage({
      story: [{ type: 'pool', kind: 'sponsor', contestId: 5, kots: '1' }, plan(6, null, HOUR_MS)],
    })
    const known = await revisionsOf(stage)
    assert.equal(known['contest-5-opens'], '0 at minute 0')
    stage.append([moved(5, 3, 4)])
    assert.equal((await revisionsOf(stage))['contest-5-opens'], '1 at minute 2')
  })

  test('of many plans has only the soonest, and states that it is cut', async () => {
    const many = Array.from({ length: CALENDAR_ENTRIES_MAX }, (_, index) =>
      plan(index + 1, null, (CALENDAR_ENTRIES_MAX - index) * HOUR_MS),
    )
    await using stage = await openApiStage({ story: many, apartMs: 1 })
    const feed = await feedOf(stage)
    const ids = valuesOf(feed, 'UID')
    assert.equal(ids.length, CALENDAR_ENTRIES_MAX)
    assert.equal(ids[0], `contest-${CALENDAR_ENTRIES_MAX}-opens@${ORIGIN}`)
    assert.ok(!ids.includes(`contest-1-closes@${ORIGIN}`))
    assert.match(feed.replaceAll('\r\n ', ''), /X-WR-CALDESC:[^\r]* Only the soonest 500 are named\./)
    await using few = await openApiStage({ story: many.slice(0, 3) })
    assert.doesNotMatch(await feedOf(few), /Only the soonest/)
  })
})

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 })

suite('a calendar', () => {
  test('has the same lines as the library writes, for any text', () => {
    fc.assert(
      fc.property(
        words,
        fc.array(fc.tuple(words, words, fc.nat(), fc.nat()), { maxLength: 4 }),
        (name, entries) => {
          const moments = entries.map(([summary, description, atMs, sequence], index) => {
            return {
              id: `entry-${index}`,
              atMs,
              sequence,
              changedMs: msOf(sequence),
              summary,
              description,
              url: 'https://a.example/contests/1/ledger',
            }
          })
          const format = openCalendar()
          const told = {
            name,
            description: name,
            product: 'Schedule',
            origin: 'a.example/log',
            moments,
          }
          const prodId = { company: 'Daybook', product: 'Schedule', language: 'EN' }
          const library = ical({ name, description: name, prodId, ttl: 3_600 })
          for (const { id, atMs, changedMs, ...said } of moments) {
            library.createEvent({
              id: `${id}@a.example/log`,
              stamp: new Date(changedMs),
              start: new Date(atMs),
              ...said,
            })
          }
          assert.equal(format(told), `${library.toString().trimEnd()}\r\n`)
        },
      ),
    )
  })
})
