import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { API_STORY, type StoryEvent } from '../../../../test/story/api-story.ts'
import { closed, correction, payout, prize, running, wordsOf } from '../../../../test/web/contest-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { plain } from '../../../../test/web/parity/page-tree.ts'
import { DAY_MS } from '../../../protocol/moment.ts'

const EXPIRY: StoryEvent = { type: 'expiry', kind: 'winner', contestId: 1, kots: '60' }
const STORY = [...API_STORY.slice(0, -1), EXPIRY]
/** The second day of the log, on which nothing happened. */
const LATER = 'from=2026-10-02&to=2026-10-03'

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ story: STORY })
})
after(() => stage[Symbol.asyncDispose]())

/** The page of flows, compared with every answer that it links. */
async function flowsOf(query = '', of: ApiStage = stage): Promise<string> {
  const page = await (await of.get(`/flows${query}`)).text()
  const answers = sourcesOf(page).map(async (source) => (await of.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return plain(page)
}

/** Rows of the balance sheet: names and exact amounts. */
function sheetOf(page: string): readonly string[] {
  const [sheet = ''] = /<div class="account">[^]*?<\/section>/.exec(page) ?? []
  return [...sheet.matchAll(/<tr[^>]*>([^]*?)<\/tr>/g)].map(([, row = '']) => wordsOf(row))
}

suite('the balance sheet', () => {
  test('has all that came in, went out and is held, and both sums', async () => {
    const page = await flowsOf()
    assert.deepEqual(sheetOf(page), [
      'What for Amount',
      'Spent on play 12.750000000',
      'Put in by sponsors 0.000000000',
      'Put into the treasury 1,000.000000000',
      'All that came in 1,012.750000000',
      'What for Amount',
      'Paid in prizes 15.000000000',
      'Paid as loyalty reward 0.000000000',
      'Refunded to players 0.000000000',
      'Burned 1.000000001',
      'Taken out of the treasury 0.000000000',
      'Held in the treasury 971.749999999',
      'Held in running pools 0.000000000',
      'Held for prizes not yet paid 25.000000000',
      'Held for the loyalty reward 0.000000000',
      'All that went out or is held 1,012.750000000',
    ])
    assert.match(page, /Equal, to the last decimal/)
    assert.match(
      wordsOf(page),
      /Prizes of 60\.000000000 KOTS were never claimed and went back to the treasury\./,
    )
  })

  test('begins the page, and follows the figures of a chosen range', async () => {
    const placeIn = (page: string): readonly number[] =>
      [/Do the books balance/, /class="controls"/].map((part) => page.search(part))
    const [sheet = 0, controls = 0] = placeIn(await flowsOf())
    assert.ok(sheet < controls)
    for (const query of [`?${LATER}`, '?bucket=week', '?by=kind']) {
      const [later = 0, before_ = 0] = placeIn(await flowsOf(query))
      assert.ok(before_ < later, query)
    }
  })

  test('is as of the end of the range, and tells how much of the unclaimed prizes is of the range', async () => {
    const early = await flowsOf('?from=2026-10-01T00:00Z&to=2026-10-01T00:04Z&bucket=minute')
    assert.ok(sheetOf(early).includes('Put into the treasury 1,000.000000000'))
    assert.ok(sheetOf(early).includes('All that came in 1,010.500000000'))
    assert.match(early, /No prize has gone back to the treasury because it was never claimed\./)
    assert.match(
      wordsOf(await flowsOf(`?${LATER}`)),
      /went back to the treasury, 0 of them on 2 October 2026 so far\./,
    )
  })

  test('is left out as long as the log has no event', async () => {
    await using empty = await openApiStage({ story: [] })
    assert.doesNotMatch(await flowsOf('', empty), /books balance/)
    assert.doesNotMatch(await flowsOf('?from=2026-09-01&to=2026-09-02'), /books balance/)
  })
})

suite('the amounts by kind', () => {
  const DAY = 'from=2026-10-01&to=2026-10-02'

  test('are tables with their sums and links to their events, the largest amount first', async () => {
    const page = await flowsOf(`?${DAY}&by=kind`)
    const [kinds = ''] = /<section id="kinds">[^]*?<\/section>/.exec(page) ?? []
    assert.deepEqual(
      [...kinds.matchAll(/<tr[^>]*>([^]*?)<\/tr>/g)].map(([, row = '']) => wordsOf(row)),
      [
        'Spent on play Share Amount',
        'Entry 10.50',
        'Vote 2.25',
        'All 12.75',
        'Paid in prizes Share Amount',
        'Voters 15.00',
        'All 15.00',
        'Burned Share Amount',
        'Platform income 1.00',
        'All 1.00',
      ],
    )
    const links = [...kinds.matchAll(/href="(\/events\?[^"]*)"/g)].map(([, href = '']) => href)
    for (const link of links) {
      const { events } = (await (await stage.get(`/api/v1${link}`)).json()) as { events: readonly object[] }
      assert.equal(events.length, 1, link)
    }
    assert.equal(links.length, 4)
  })

  test('are shown and hidden by a link, and stay when another range is chosen', async () => {
    const without = await flowsOf(`?${DAY}`)
    assert.doesNotMatch(without, /id="kinds"/)
    assert.ok(without.includes(`href="/flows?${DAY}&by=kind#kinds"`))
    const shown = await flowsOf(`?${DAY}&by=kind`)
    assert.ok(shown.includes(`href="/flows?${DAY}"`))
    assert.match(shown, /<input type="hidden" name="by" value="kind"/)
    const [controls = ''] = /<div class="controls"[^]*?<form/.exec(shown) ?? []
    const ranges = [...controls.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href)
    assert.ok(ranges.length > 1)
    for (const range of ranges) assert.match(range, /[?&]by=kind\b/)
    assert.match(shown, /data-cite href="[^"]*&by=kind"/)
  })

  test('are less corrections, which the lists of events are not, and say so', async () => {
    const story = [...running, closed, prize, payout('60'), correction('payout', '-20', 7)]
    await using corrected = await openApiStage({ story })
    const page = wordsOf(await flowsOf('?by=kind', corrected))
    assert.match(page, /Winner 40\.00/)
    assert.match(page, /Corrections are subtracted here\. The lists of events have every amount as it was/)
    const listed = await (await corrected.get('/api/v1/events?type=payout&kind=winner')).text()
    assert.match(listed, /"kots":"60\.000000000"/)
  })

  test('are cut to the twelve largest kinds', async () => {
    const plays = Array.from({ length: 14 }, (_, index): StoryEvent => ({
      type: 'play',
      kind: `game_${index}`,
      contestId: 1,
      kots: `${index + 1}`,
    }))
    await using many = await openApiStage({
      story: [...API_STORY.slice(0, 3), ...plays],
      apartMs: DAY_MS / 100,
    })
    const page = await flowsOf('?by=kind', many)
    const [kinds = ''] = /<section id="kinds">[^]*?<\/table>/.exec(page) ?? []
    assert.equal([...kinds.matchAll(/<tr data-row/g)].length, 12)
    assert.match(kinds, /Game 13[^]*Game 2</)
    assert.match(page, /Further kinds are in the CSV/)
  })
})
