import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { StoryEvent } from '../stage/api-stage.ts'
import { openApiStage, plan } from '../stage/api-stage.ts'
import { openBrowser } from '../stage/browser.ts'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'

const LONGEST = '9'.repeat(17)
const TX = 'A'.repeat(128)

/** A story whose last events are a receipt with the longest texts, its correction, and what takes its place. */
const LONG: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: LONGEST },
  plan(5, 'W'.repeat(100), HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 5 },
  { type: 'pool', kind: 'top_up', contestId: 5, kots: LONGEST },
  { type: 'contest', kind: 'closed', contestId: 5 },
  { type: 'prize', kind: 'runner_up', contestId: 5, kots: LONGEST },
  { type: 'payout', kind: 'runner_up', contestId: 5, kots: `7777777777777777.777777777`, tx: TX },
  {
    type: 'correction',
    kind: 'payout',
    contestId: 5,
    kots: `-7777777777777777.777777777`,
    details: { corrects: seqOf(7) },
  },
  { type: 'payout', kind: 'runner_up', contestId: 5, kots: '1', tx: TX, details: { restates: seqOf(7) } },
]

suite('a printed page', () => {
  test('has its figures and its citation, but no controls', async () => {
    await using stage = await openApiStage()
    await using browser = await openBrowser()
    for (const path of ['/flows', '/schedule', '/events', '/events/10']) {
      await using sight = await browser.see(`http://127.0.0.1:${stage.port}${path}`)
      await sight.page.emulateMedia({ media: 'print' })
      assert.ok(await sight.page.locator('[data-cite]').isVisible(), path)
      for (const pressed of await sight.page.locator('button, input, select, .tabs a, .pager a').all()) {
        assert.equal(await pressed.isVisible(), false, path)
      }
      assert.ok(await sight.page.locator('h1').isVisible())
    }
  })

  test('of a receipt is one page of A4, with the whole transaction, nothing cut, and its proof', async () => {
    await using stage = await openApiStage({ story: LONG })
    await using browser = await openBrowser()
    for (const seq of [7, 8, 9]) {
      await using sight = await browser.see(`http://127.0.0.1:${stage.port}/events/${seq}`)
      const pdf = await sight.page.pdf({ format: 'A4' })
      assert.equal(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1, `event ${seq}`)
      await sight.page.emulateMedia({ media: 'print' })
      await sight.page.setViewportSize({ width: 718, height: 1047 })
      const cut = await sight.page
        .locator('.receipt, .receipt *')
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0).map(String),
        )
      assert.deepEqual(cut, [], `event ${seq}`)
      const text = await sight.page.locator('.receipt').innerText()
      if (seq !== 8) assert.ok(text.includes(TX))
      assert.match(text, /In the signed book\. Event \d of 9; /)
      assert.ok(await sight.page.locator('.seal svg').isVisible())
    }
  })
})
