import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ApiStage, StoryEvent } from '../../../../test/stage/api-stage.ts'
import { LAUNCH, openApiStage, plan } from '../../../../test/stage/api-stage.ts'
import { drawnBars } from '../../../../test/web/drawn-bars.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { DAY_MS, HOUR_MS, msOf } from '../../../protocol/moment.ts'

const CLOSED: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '1000' },
  plan(1, 'First', HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 1 },
  { type: 'pool', kind: 'top_up', contestId: 1, kots: '500' },
  { type: 'contest', kind: 'closed', contestId: 1 },
]

const prize = (kind: string, kots: string, details: StoryEvent['details'] = {}): StoryEvent => ({
  type: 'prize',
  kind,
  contestId: 1,
  kots,
  details,
})

async function seeOn(stage: ApiStage, path: string): Promise<string> {
  const page = await (await stage.get(path)).text()
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return page
}

async function see(path: string, story: readonly StoryEvent[]): Promise<string> {
  await using stage = await openApiStage({ story })
  return await seeOn(stage, path)
}

suite('the page of unpaid prizes', () => {
  test('says that everything is paid', async () => {
    assert.match(await see('/payouts', CLOSED), /✓ Everything that was won is paid\./)
  })

  test('says that everything is paid in one contest', async () => {
    const page = await see('/payouts?contestId=1', [
      ...CLOSED,
      prize('winner', '60'),
      { type: 'payout', kind: 'winner', contestId: 1, kots: '60', tx: 'transaction-0001' },
    ])
    assert.match(page, /✓ Everything that was won is paid\./)
    assert.match(page, /with every payout of it/)
  })

  const unwon: readonly (readonly [state: string, story: readonly StoryEvent[], said: RegExp])[] = [
    ['is planned', CLOSED.slice(0, 2), /Nothing has been won yet: it is planned to open at <time/],
    ['is running', CLOSED.slice(0, 3), /Nothing has been won yet: prizes are won once it has closed/],
    ['closed without a winner', CLOSED, /No prize was won in this contest\./],
  ]
  for (const [state, story, said] of unwon) {
    test(`does not say so of a contest that ${state}`, async () => {
      const page = await see('/payouts?contestId=1', story)
      assert.match(page, said)
      assert.doesNotMatch(page, /Everything that was won is paid/)
    })
  }

  test('does not say so of a contest that does not exist', async () => {
    await using stage = await openApiStage({ story: CLOSED })
    const page = await (await stage.get('/payouts?contestId=99')).text()
    assert.match(page, /No contest has this number\./)
    assert.doesNotMatch(page, /Everything that was won is paid|contests\/99/)
  })

  test('lists prizes that wait for a date by day, with a total for each day', async () => {
    const page = await see('/payouts', [
      ...CLOSED,
      prize('winner', '60', { unlocksAt: msOf(LAUNCH + 9 * DAY_MS) }),
      prize('runner_up', '30', { reviewUntil: msOf(LAUNCH + 4 * DAY_MS) }),
      prize('lucky_draw', '10', { reviewUntil: msOf(LAUNCH + 4 * DAY_MS + HOUR_MS) }),
    ])
    const days = [
      ...page.matchAll(/scope="rowgroup" colspan="2"[^>]*>\s*<time[^>]*>([^<]*)<[^]*?data-expr="([^"]*)"/g),
    ]
    assert.deepEqual(
      days.map(([, day, expression]) => [day, expression]),
      [
        ['2026-10-05', 'sum /unpaid/1/kots /unpaid/2/kots'],
        ['2026-10-10', 'sum /unpaid/0/kots'],
      ],
    )
    assert.match(page, /Nothing is ready to be paid or claimed\./)
  })

  test('draws a bar for each of the next thirty days, from today', async () => {
    const story = [
      ...CLOSED,
      prize('winner', '60', { unlocksAt: msOf(LAUNCH + 9 * DAY_MS) }),
      prize('runner_up', '30', { reviewUntil: msOf(LAUNCH + 4 * DAY_MS) }),
      prize('lucky_draw', '10', { unlocksAt: msOf(LAUNCH + 32 * DAY_MS) }),
    ]
    const page = await see('/payouts', story)
    const bars = drawnBars(page, 'f1', 30)
    assert.deepEqual(
      bars.map(([day]) => day),
      [2, 7],
    )
    const [review = 0, lock = 0] = bars.map(([, height]) => height)
    assert.equal(review * 2, lock)
    const sentence = (/<figcaption>([^]*?)<\/figcaption>/.exec(page)?.[1] ?? '').replaceAll(/<[^>]*>/g, '')
    assert.equal(
      sentence.replaceAll(/\s+/g, ' '),
      '90.000000000 KOTS become available in the next thirty days, the most on 2026-10-10 (UTC). 10.000000000 KOTS come later.',
    )
  })

  test('draws nothing when no prize waits for a date', async () => {
    assert.doesNotMatch(await see('/payouts', [...CLOSED, prize('winner', '60')]), /<figure/)
  })

  test('says that its chart is of a part, if there are more pages', async () => {
    const locked = { unlocksAt: msOf(LAUNCH + 9 * DAY_MS) }
    const story = [...CLOSED, prize('winner', '60', locked), prize('runner_up', '30', locked)]
    assert.match(await see('/payouts?limit=1', story), /<figcaption>\s*Of those on this page, /)
  })

  test('has a picture, even when no prize waits', async () => {
    await using stage = await openApiStage({ story: CLOSED })
    const svg = await (await stage.get('/payouts.svg?contestId=1')).text()
    assert.match(svg, /Prizes of contest 1 not yet paid/)
    assert.match(svg, /2026-10-03 to 2026-11-01/)
    assert.match(svg, /Nothing waits for a date\./)
  })

  test('lists prizes that are payable or await a claim, and names the oldest', async () => {
    const page = await see('/payouts', [
      ...CLOSED,
      prize('winner', '60', { claim: true }),
      prize('runner_up', '30'),
    ])
    assert.match(
      page,
      /Open for the longest time: winner of\s+<a href="\/contests\/1\/ledger"><bdi>First<\/bdi><\/a>/,
    )
    assert.match(page, /<span class="pill awaiting_claim">awaiting claim<\/span>/)
    assert.match(page, /<span class="pill payable">payable<\/span>/)
    assert.match(page, /Nothing is locked or in review\./)
  })

  test('explains each state, and that it names nobody', async () => {
    const page = await see('/payouts', CLOSED)
    for (const state of ['locked', 'in_review', 'awaiting_claim', 'payable', 'overpaid']) {
      assert.match(page, new RegExp(`<dt id="${state}">`))
    }
    assert.match(page, /nobody’s name or wallet/)
  })

  test('moves a prize from one group to the other at its date', async () => {
    await using stage = await openApiStage({
      story: [...CLOSED, prize('winner', '60', { unlocksAt: msOf(LAUNCH + 9 * DAY_MS) })],
    })
    assert.match(await seeOn(stage, '/payouts'), /Nothing is ready/)
    stage.setNow(msOf(LAUNCH + 9 * DAY_MS))
    assert.match(await seeOn(stage, '/payouts'), /Nothing is locked/)
  })

  test('links the next page of a long answer', async () => {
    const page = await see('/payouts?limit=1', [...CLOSED, prize('winner', '60'), prize('runner_up', '30')])
    assert.match(page, /<a rel="next" href="\/payouts\?after=6&amp;limit=1">Further ones<\/a>/)
  })
})
