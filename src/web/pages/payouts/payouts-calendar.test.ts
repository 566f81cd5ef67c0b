import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { LAUNCH, plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { assertCalendar, valuesOf } from '../../../../test/stage/icalendar.ts'
import { DAY_MS, HOUR_MS, type Ms, msOf } from '../../../protocol/moment.ts'
import { CALENDAR_ENTRIES_MAX } from '../../../protocol/parameters.ts'
import { CALENDAR_ROWS_MAX } from './payouts-calendar.ts'

const day = (days: number): Ms => msOf(LAUNCH + days * DAY_MS)

/** A contest that has closed, with a pool for its prizes. */
const closed = (contestId: number, title: string | null): readonly StoryEvent[] => [
  plan(contestId, title, HOUR_MS),
  { type: 'contest', kind: 'opened', contestId },
  { type: 'pool', kind: 'top_up', contestId, kots: '500' },
  { type: 'contest', kind: 'closed', contestId },
]

const prize = (
  contestId: number,
  kind: string,
  kots: string,
  details: StoryEvent['details'] = {},
): StoryEvent => ({
  type: 'prize',
  kind,
  contestId,
  kots,
  details,
})

const STORY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '2000' },
  ...closed(1, 'First; of all, and best'),
  ...closed(2, null),
  prize(1, 'winner', '60', { unlocksAt: day(9) }),
  prize(1, 'runner_up', '30', { reviewUntil: day(5) }),
  prize(1, 'runner_up', '10', { unlocksAt: day(5) }),
  prize(2, 'winner', '7', { unlocksAt: day(6) }),
  prize(2, 'lucky_draw', '3'),
]

async function read(stage: ApiStage, path: string): Promise<string> {
  const response = await stage.get(path)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/calendar; charset=utf-8')
  const feed = await response.text()
  assertCalendar(feed)
  return feed
}

suite('the calendar of unpaid prizes', () => {
  test('has an entry for each contest, kind and moment, the soonest first', async () => {
    await using stage = await openApiStage({ story: STORY })
    const feed = await read(stage, '/payouts.ics')
    assert.deepEqual(valuesOf(feed, 'DTSTART'), ['20261006T000000Z', '20261007T000000Z', '20261010T000000Z'])
    assert.deepEqual(valuesOf(feed, 'SUMMARY'), [
      String.raw`Runners-up: contest 1 (First\; of all\, and best) can be paid`,
      'Winner: contest 2 can be paid',
      String.raw`Winner: contest 1 (First\; of all\, and best) can be paid`,
    ])
    assert.deepEqual(valuesOf(feed, 'UID'), [
      'contest-1-runner_up-2026-10-06T00:00:00.000Z@daybook.test/api',
      'contest-2-winner-2026-10-07T00:00:00.000Z@daybook.test/api',
      'contest-1-winner-2026-10-10T00:00:00.000Z@daybook.test/api',
    ])
    assert.match(valuesOf(feed, 'DESCRIPTION')[0] ?? '', /^40\.000000000 KOTS\\, .*Informational only\.$/)
    assert.equal(valuesOf(feed, 'URL;VALUE=URI')[0], `http://127.0.0.1:${stage.port}/contests/1/ledger`)
  })

  test('is limited to the contest of its query', async () => {
    await using stage = await openApiStage({ story: STORY })
    const feed = await read(stage, '/payouts.ics?contestId=2')
    assert.deepEqual(valuesOf(feed, 'SUMMARY'), ['Winner: contest 2 can be paid'])
    assert.deepEqual(valuesOf(feed, 'NAME'), ['Daybook: when prizes of contest 2 can be paid'])
  })

  test('names a running contest, for a prize that it has won already', async () => {
    const running = closed(1, 'Runs').slice(0, -1)
    const story = [...STORY.slice(0, 1), ...running, prize(1, 'daily', '60', { unlocksAt: day(9) })]
    await using stage = await openApiStage({ story })
    assert.match(
      valuesOf(await read(stage, '/payouts.ics'), 'SUMMARY')[0] ?? '',
      /: contest 1 \(Runs\) can be paid$/,
    )
  })

  test('keeps the id of an entry when a part is paid', async () => {
    const payout = { type: 'payout', kind: 'winner', contestId: 1, kots: '15', tx: 'tx-1' } as const
    await using before = await openApiStage({ story: STORY })
    await using since = await openApiStage({ story: [...STORY, payout] })
    const [then, now] = [await read(before, '/payouts.ics'), await read(since, '/payouts.ics')]
    assert.deepEqual(valuesOf(now, 'UID'), valuesOf(then, 'UID'))
    assert.notDeepEqual(valuesOf(now, 'DESCRIPTION'), valuesOf(then, 'DESCRIPTION'))
  })

  test('has the DTSTAMP of the event that last changed the prizes of the contest', async () => {
    await using stage = await openApiStage({ story: STORY })
    const stamps = async (): Promise<readonly string[]> =>
      valuesOf(await read(stage, '/payouts.ics'), 'DTSTAMP')
    assert.deepEqual(await stamps(), ['20261001T001100Z', '20261001T001300Z', '20261001T001100Z'])
    stage.trade(1)
    stage.append([{ type: 'payout', kind: 'winner', contestId: 1, kots: '15', tx: 'tx-1' }])
    assert.deepEqual(await stamps(), ['20261001T001500Z', '20261001T001300Z', '20261001T001500Z'])
  })

  test('leaves out available prizes, and answers 304 while nothing changes', async () => {
    await using stage = await openApiStage({ story: STORY })
    const etag = (await stage.get('/payouts.ics')).headers.get('etag') ?? ''
    stage.setNow(msOf(day(5) - 1))
    assert.equal((await stage.get('/payouts.ics', { 'If-None-Match': etag })).status, 304)
    stage.setNow(day(5))
    assert.equal(valuesOf(await read(stage, '/payouts.ics'), 'UID').length, 2)
  })

  test('has the soonest prizes of a long answer, even from its end', async () => {
    const minutes = Array.from({ length: CALENDAR_ROWS_MAX }, (_, index) => CALENDAR_ROWS_MAX - 1 - index)
    const lots = minutes.map((minute) =>
      prize(1, 'winner', '0.1', { unlocksAt: msOf(day(9) + minute * 60_000) }),
    )
    const story = [{ type: 'treasury', kind: 'deposit', kots: '2000' } as const, ...closed(1, null), ...lots]
    await using stage = await openApiStage({ story })
    const feed = await read(stage, '/payouts.ics')
    assert.equal(valuesOf(feed, 'UID').length, CALENDAR_ENTRIES_MAX)
    assert.equal(valuesOf(feed, 'DTSTART')[0], '20261010T000000Z')
    assert.match(feed.replaceAll('\r\n ', ''), /Only the soonest 500 are named/)
    // The calendar leaves out one more row, and states it.
    stage.append([prize(1, 'winner', '0.1', { unlocksAt: day(8) })])
    const longer = await read(stage, '/payouts.ics')
    assert.equal(valuesOf(longer, 'DTSTART')[0], '20261010T000000Z')
    assert.match(
      longer.replaceAll('\r\n ', ''),
      /It covers only the first 10000 rows of \/payouts: there are more/,
    )
  })

  test('is linked only while a prize waits for a date', async () => {
    await using stage = await openApiStage({ story: STORY })
    const linked = async (path: string): Promise<string | undefined> =>
      /href="(\/payouts\.ics[^"]*)"/.exec(await (await stage.get(path)).text())?.[1]
    assert.equal(await linked('/payouts'), '/payouts.ics')
    assert.equal(await linked('/payouts?contestId=1'), '/payouts.ics?contestId=1')
    assert.equal(await linked('/contests/1/ledger'), '/payouts.ics?contestId=1')
    stage.setNow(day(10))
    assert.equal(await linked('/payouts'), undefined)
    assert.equal(await linked('/contests/1/ledger'), undefined)
  })

  test('is refused for an invalid query', async () => {
    await using stage = await openApiStage({ story: STORY })
    assert.equal((await stage.get('/payouts.ics?contestId=first')).status, 400)
    assert.equal((await stage.get('/payouts.ics?limit=5')).status, 400)
  })
})
