import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { closedContest, LAUNCH, plan, type StoryEvent } from '../../../test/story/api-story.ts'
import { wordsOf } from '../../../test/web/contest-story.ts'
import { assertParity, sourcesOf } from '../../../test/web/parity/parity.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { PAGE_ROWS_MAX } from './answers.ts'

/** A contest that has closed, with a pool for its prizes. */
const CLOSED: readonly StoryEvent[] = closedContest('50000')

/** Prizes that become available one minute after another, from the day of the launch by default. */
const prizes = (count: number, firstMs: number = LAUNCH): readonly StoryEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'prize',
    kind: 'winner',
    contestId: 1,
    kots: '1',
    details: { unlocksAt: msOf(firstMs + index * MINUTE_MS) },
  }))

async function see(stage: ApiStage, path: string): Promise<string> {
  const response = await stage.get(path)
  const page = await response.text()
  assert.equal(response.status, 200, page)
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return page.replaceAll(/\s+/g, ' ')
}

suite('a ledger page', () => {
  test('describes more unpaid prizes than it reads by their totals', async () => {
    // The first prizes are available now, the last 120 later.
    await using stage = await openApiStage({ story: [...CLOSED, ...prizes(3_001)], apartMs: 1 })
    const page = await see(stage, '/contests/1/ledger')
    assert.match(wordsOf(page), /120 KOTS wait for a date, and 2,881 KOTS can be paid now\./)
    assert.ok(page.length < 100_000, `${page.length} characters`)
    assert.equal(page.match(/<li data-row=/g)?.length, 10)
    assert.match(page, /<a href="\/payouts\?contestId=1">See all that waits<\/a>/)
    assert.match(page, /<a href="\/payouts\.csv\?contestId=1">as CSV<\/a>/)
  })

  test('names the prizes that wait if it reads all of them', async () => {
    await using stage = await openApiStage({ story: [...CLOSED, ...prizes(100)], apartMs: 1 })
    assert.match(wordsOf(await see(stage, '/contests/1/ledger')), /Can be paid now: the winner\./)
  })

  test('says that all unpaid prizes can be paid, without a calendar, if none waits for a date', async () => {
    await using stage = await openApiStage({ story: [...CLOSED, ...prizes(201)], apartMs: 1 })
    const page = await see(stage, '/contests/1/ledger')
    assert.match(page, /All that is unpaid can be paid now\./)
    assert.doesNotMatch(page, /payouts\.ics/)
  })
})

suite('a list of more unpaid prizes than the page reads', () => {
  test('is called a part, links to the rest, and says nothing about all unpaid prizes', async () => {
    await using stage = await openApiStage({
      story: [...CLOSED, ...prizes(PAGE_ROWS_MAX), ...prizes(50, LAUNCH + 9 * DAY_MS)],
      apartMs: 1,
    })
    const first = await see(stage, '/payouts')
    assert.match(first, /This page lists only the ones that were won first/)
    assert.match(first, /rel="next" href="\/payouts\?after=\d+&amp;limit=1000"/)
    assert.doesNotMatch(first, /When the rest can be paid/)
    assert.match(wordsOf(first), /KOTS of prizes can be paid now, [\d,.]+ more later/)
    assert.match(first, /CSV \(more rows than this page reads\)/)
    assert.match(first, /have more, and link to the next rows/)
    const next = /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = await see(stage, next)
    assert.doesNotMatch(second, /Can be paid or claimed now/)
    assert.match(second, /When the rest can be paid/)
    const beyond = await see(stage, '/payouts?after=99999')
    assert.doesNotMatch(beyond, /No prize is unpaid/)
    assert.match(beyond, /There are no more unpaid prizes/)
  })

  test('is called a part in its picture too', async () => {
    await using stage = await openApiStage({
      story: [...CLOSED, ...prizes(PAGE_ROWS_MAX + 1, LAUNCH + 9 * DAY_MS)],
      apartMs: 1,
    })
    const part = await (await stage.get('/payouts.svg')).text()
    assert.match(part, /2026-10-03 to 2026-11-01, of 1000 rows, and there are more;/)
    assert.match(part, /day by day, for part of the unpaid prizes, KOTS/)
    const rest = await (await stage.get('/payouts.svg?limit=5')).text()
    assert.match(rest, /of 5 rows, and there are more;/)
    await using whole = await openApiStage({ story: [...CLOSED, ...prizes(10, LAUNCH + 9 * DAY_MS)] })
    assert.match(await (await whole.get('/payouts.svg')).text(), /2026-10-03 to 2026-11-01; state/)
  })
})

suite('a list of more contests than the page reads', () => {
  const many = (count: number, kind: 'scheduled' | 'opened'): readonly StoryEvent[] =>
    Array.from({ length: count }, (_, index) =>
      kind === 'scheduled'
        ? plan(index + 1, null, HOUR_MS + index * MINUTE_MS)
        : { type: 'contest', kind, contestId: index + 1 },
    )

  test('says on an empty last page that no older contest exists, not that none exists', async () => {
    await using stage = await openApiStage({ story: many(3, 'scheduled') })
    const page = await see(stage, '/contests?after=1')
    assert.match(page, /There is no older contest in this list\./)
    assert.doesNotMatch(page, /There has been no contest yet/)
  })

  test('shows twenty of a state, and says that the CSV has more rows', async () => {
    await using stage = await openApiStage({ story: many(60, 'scheduled'), apartMs: 1 })
    const page = await see(stage, '/contests?status=upcoming')
    assert.match(page, /CSV \(more rows than this page reads\)/)
    assert.match(
      page,
      /rel="next" href="\/contests\?status=upcoming&amp;after=41&amp;limit=20"\s*>Older contests/,
    )
    assert.doesNotMatch(page, /Show the JSON/)
    const rest = await see(stage, '/contests?status=upcoming&after=11&limit=20')
    assert.match(rest, /CSV \(all 10 rows\)/)
  })

  test('is called a part in the timeline of the schedule', async () => {
    const count = PAGE_ROWS_MAX + 1
    const story = [...many(count, 'scheduled'), ...many(count, 'opened')]
    await using stage = await openApiStage({ story, apartMs: 1 })
    assert.match(await see(stage, '/schedule'), /only planned ones and the newest thousand open ones/)
    const picture = await (await stage.get('/schedule.svg')).text()
    assert.match(picture, /only planned ones and the newest thousand open ones/)
  })
})
