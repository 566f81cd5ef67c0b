import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import { plan, type StoryEvent } from '../story/api-story.ts'
import { openPageStage } from '../stage/page-stage.ts'

const PHONE = { width: 390, height: 844 }

/** A contest that is settled, one that has four unpaid parts, and two that run. */
const STORY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '1000000' },
  ...[1, 2].flatMap((id): readonly StoryEvent[] => [
    plan(id, `Photo of the Day: One Line Only ${id}`, HOUR_MS),
    { type: 'contest', kind: 'opened', contestId: id },
    { type: 'pool', kind: 'top_up', contestId: id, kots: '200000' },
    { type: 'contest', kind: 'closed', contestId: id },
  ]),
  { type: 'prize', kind: 'winner', contestId: 1, kots: '200000' },
  { type: 'payout', kind: 'winner', contestId: 1, kots: '200000', tx: 'transaction-0001' },
  { type: 'contest', kind: 'paid', contestId: 1 },
  { type: 'prize', kind: 'winner', contestId: 2, kots: '50000', details: { claim: true } },
  { type: 'prize', kind: 'runner_up', contestId: 2, kots: '50000' },
  {
    type: 'prize',
    kind: 'voter_share',
    contestId: 2,
    kots: '50000',
    details: { unlocksAt: msOf(Date.UTC(2026, 9, 4)) },
  },
  {
    type: 'prize',
    kind: 'lucky_draw',
    contestId: 2,
    kots: '50000',
    details: { reviewUntil: msOf(Date.UTC(2026, 9, 3, 18)) },
  },
  ...[3, 4].flatMap((id): readonly StoryEvent[] => [
    plan(id, `Weekly Round ${id}: Paper and Scissors in the Street`, DAY_MS),
    { type: 'contest', kind: 'opened', contestId: id },
  ]),
]

suite('the first screen of a phone on the start page', () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`has the answer, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      await using pages = await openPageStage({ story: STORY })
      await using sight = await pages.see('/', { viewport: PHONE, javaScriptEnabled })
      const { page } = sight
      assert.equal(await page.locator('h1').innerText(), '1 of 2 closed contests is settled')
      const parts = [
        'h1',
        '.lead',
        'main input[type=search]',
        '.next li:first-child',
        '.next li:first-child small >> nth=1',
      ]
      for (const part of parts) {
        const box = await page
          .locator(`main >> ${part}`.replace('main >> main', 'main'))
          .first()
          .boundingBox()
        assert.ok(box !== null, `${part} is there`)
        assert.ok(box.y + box.height <= PHONE.height, `${part} ends at ${box.y + box.height}`)
        assert.ok(box.x >= 0 && box.x + box.width <= PHONE.width, `${part} is as wide as the screen`)
      }
      assert.match(await page.locator('.lead').innerText(), /^200,000 KOTS of prizes still wait\.$/)
      assert.match(await page.locator('.seg-words').innerText(), /^ Payable 50,000\n[^]* Locked 50,000$/)
    })
  }

  test('finds a contest by words of its title', async () => {
    await using pages = await openPageStage({ story: STORY })
    await using sight = await pages.see('/', { viewport: PHONE })
    const { page } = sight
    await page.locator('main input[type=search]').fill('only 1')
    await page.locator('main form.find button').click()
    await page.waitForURL('**/contests/1/ledger')
  })
})
