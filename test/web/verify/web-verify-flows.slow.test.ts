import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Flows } from '../../../src/protocol/figure-resources.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../../src/tlog/frontier.ts'
import { treeHasher } from '../../../src/tlog/hash.ts'
import { formatBase64 } from '../../../src/tlog/text.ts'
import { parseTile } from '../../../src/tlog/tile.ts'
import { type Browser, openBrowser } from '../../stage/browser.ts'
import { check, publish, replaced, sha256, signedBy, stepsOf, STOPPED } from './checked-page.ts'
import type { ModelDraft } from '../../story/log-model.ts'
import { type ModelService, openModelService } from '../../stage/model-service.ts'
import { TEST_KEY } from '../../story/signing.ts'

let service: ModelService
let browser: Browser
let told = 0

/** Publishes drafts one after another, from the log's next seq. */
const tell = (drafts: readonly Omit<ModelDraft, 'ref'>[]): Promise<void> =>
  publish(
    service,
    drafts.map((draft) => ({ ref: `told-${++told}`, ...draft })),
  )

const OF_CONTEST = { contestId: 1 } as const
const tx = (): string => `transaction-${told}-000000000001`
const correction = (kind: string, corrects: number, kots: string, contest = {}): Omit<ModelDraft, 'ref'> => ({
  type: 'correction',
  kind,
  kots,
  details: { corrects },
  ...contest,
})

before(async () => {
  service = await openModelService(Date.UTC(2026, 3, 20))
  browser = await openBrowser()
  await tell([
    { type: 'treasury', kind: 'deposit', kots: '1000' },
    { type: 'loyalty', kind: 'accrual', kots: '100' },
    {
      type: 'contest',
      kind: 'scheduled',
      ...OF_CONTEST,
      details: { opensAt: '2026-04-20T00:00:00.000Z', closesAt: '2026-04-21T00:00:00.000Z' },
    },
    { type: 'contest', kind: 'opened', ...OF_CONTEST },
    { type: 'play', kind: 'vote', ...OF_CONTEST, kots: '7' },
    { type: 'pool', kind: 'top_up', ...OF_CONTEST, kots: '300' },
    { type: 'contest', kind: 'closed', ...OF_CONTEST },
    { type: 'prize', kind: 'winner', ...OF_CONTEST, kots: '100' },
    // 9 and 10, which May corrects.
    { type: 'payout', kind: 'winner', ...OF_CONTEST, kots: '30.5', tx: tx() },
    { type: 'payout', kind: 'refund', ...OF_CONTEST, kots: '20', tx: tx() },
  ])
  service.setNow(Date.UTC(2026, 4, 5))
  await tell([
    // 11 to 14: the file of May has the payout that it corrects.
    { type: 'payout', kind: 'winner', ...OF_CONTEST, kots: '44.000000001', tx: tx() },
    { type: 'payout', kind: 'loyalty', kots: '12', tx: tx(), details: { month: '2026-04' } },
    { type: 'burn', kind: 'platform_income', kots: '3.25' },
    { type: 'burn', kind: 'platform_income', kots: '1.000000009' },
    correction('payout', 9, '-30.5', OF_CONTEST),
    correction('payout', 10, '-20', OF_CONTEST),
    correction('payout', 12, '-12'),
    correction('burn', 13, '-3.25'),
    correction('play', 5, '-7', OF_CONTEST),
  ])
  service.setNow(Date.UTC(2026, 5, 5))
  await tell([{ type: 'trade', kind: 'buy', kots: '1' }])
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const urlOf = (path: string): string => `http://127.0.0.1:${service.port()}${path}`

async function checkMonth(page: Page, month: string): Promise<readonly string[]> {
  await page.locator('input[name=month]').fill(month)
  return check(page, 'month')
}

suite('the check of a month', () => {
  for (const [month, sums] of [
    ['2026-04', { spentOnPlay: '7.000000000', paidInPrizes: '30.500000000', burned: '0.000000000' }],
    ['2026-05', { spentOnPlay: '-7.000000000', paidInPrizes: '13.500000001', burned: '1.000000009' }],
  ] as const) {
    test(`adds up the movements of ${month} with corrections, and compares them with the flows`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const marks = await checkMonth(sight.page, month)
      const steps = await stepsOf(sight.page, 'month')
      assert.ok(!marks.includes('failed'), steps)
      for (const amount of Object.values(sums)) assert.ok(steps.includes(amount), steps)
      assert.match(steps, /✔ verified The amounts spent on play/)
      const proved = [...steps.matchAll(/The line of event (\d+)/g)].map(([, seq]) => seq)
      assert.deepEqual(proved, month === '2026-04' ? ['11'] : ['10', '20', '9', '10'])
    })

    for (const [figure, amount] of Object.entries(sums)) {
      test(`fails if the flows have another ${figure} of ${month}`, async () => {
        await using sight = await browser.see(urlOf('/verify'))
        const { page } = sight
        const query = `from=${month}-01&to=${month === '2026-04' ? '2026-05' : '2026-06'}-01&bucket=day`
        const { totals } = (await (await service.get(`/api/v1/flows?${query}`)).json()) as Flows
        assert.equal(totals[figure as keyof typeof totals], amount)
        const said = JSON.stringify(totals)
        const lie = said.replace(`"${figure}":"${amount}"`, `"${figure}":"5.000000000"`)
        await page.route('**/api/v1/flows?*', replaced(said, lie))
        assert.deepEqual((await checkMonth(page, month)).slice(-2), STOPPED)
        assert.match(await stepsOf(page, 'month'), /5\.000000000/)
      })
    }
  }

  test('fails if the present log does not extend the month, though its key signed both', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    const path = '/api/v1/log/tile/0/000.p/20'
    const tile = Buffer.from(await (await service.get(path)).arrayBuffer()).fill(7, 0, 32)
    const tree = emptyFrontier()
    const hasher = treeHasher(sha256)
    for (const leaf of parseTile(tile, 20) ?? []) appendLeaf(hasher, tree, leaf)
    const root = formatBase64(rootOf(hasher, tree))
    const [body] = signedBy(TEST_KEY, 'daybook.test/model', `daybook.test/model\n20\n${root}\n`)
    await page.route('**/log/checkpoint', (route) => route.fulfill({ body }))
    await page.route(`**${path}`, (route) => route.fulfill({ body: tile }))
    assert.deepEqual((await checkMonth(page, '2026-04')).slice(-3), ['verified', ...STOPPED])
    assert.match(await stepsOf(page, 'month'), /does not continue the one at the end of the month/)
    await page.locator('input[name=seq]').fill('11')
    assert.deepEqual(await check(page, 'event'), ['verified', 'verified'])
  })
})
