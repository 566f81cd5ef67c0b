import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { HOUR_MS } from '../../protocol/moment.ts'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { type Browser, openBrowser } from '../../../test/stage/browser.ts'
import { plan } from '../../../test/story/api-story.ts'

let stage: ApiStage
let browser: Browser
before(async () => {
  const titles = ['Zażółć gęślą jaźń', 'Crème brûlée 2026', 'Съешь']
  stage = await openApiStage({ story: titles.map((title, index) => plan(index + 1, title, HOUR_MS)) })
  browser = await openBrowser()
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await stage[Symbol.asyncDispose]()
})

suite('the font of headings', () => {
  for (const [id, isDrawn] of [
    [1, true],
    [2, true],
    [3, false],
  ] as const) {
    test(`${isDrawn ? 'draws' : 'leaves to the system'} the title of contest ${id}, and no other text`, async () => {
      await using sight = await browser.see(`http://127.0.0.1:${stage.port}/contests/${id}/ledger`)
      const client = await sight.page.context().newCDPSession(sight.page)
      await client.send('DOM.enable')
      await client.send('CSS.enable')
      const { root } = await client.send('DOM.getDocument')
      const fontsOf = async (selector: string): Promise<readonly string[]> => {
        const { nodeId } = await client.send('DOM.querySelector', { nodeId: root.nodeId, selector })
        const { fonts } = await client.send('CSS.getPlatformFontsForNode', { nodeId })
        return fonts.filter((font) => font.isCustomFont).map((font) => font.familyName)
      }
      assert.deepEqual(await fontsOf('h1'), isDrawn ? ['Source Serif 4'] : [])
      assert.deepEqual(await fontsOf('.facts'), [])
      assert.deepEqual(
        sight.wrong.filter((message) => /policy|font/i.test(message)),
        [],
      )
    })
  }
})
