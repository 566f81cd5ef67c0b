import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openModelService } from '../../../test/stage/model-service.ts'
import {
  assertNoSidewaysScroll,
  assertNoViolations,
  type Browser,
  type BrowserPage,
  NARROW,
} from '../../../test/stage/browser.ts'
import { openPageStage, type PageStage } from '../../../test/stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage({ streams: true })
})
after(() => pages[Symbol.asyncDispose]())

const see = (options: Parameters<Browser['see']>[1] = {}): Promise<BrowserPage> => pages.see('/api', options)

suite('a form of the reference', { timeout: 60_000 }, () => {
  test('shows the answer below it, with status, time and a link to the page', async () => {
    await using sight = await see()
    const section = sight.page.locator('section[aria-labelledby=flows]')
    await section.locator('select[name=bucket]').selectOption('week')
    await section.getByRole('button', { name: 'Send request' }).press('Enter')
    const said = section.getByRole('status')
    await said.filter({ hasText: /^200 OK · \d+ bytes/ }).waitFor()
    const answer = await (await pages.api.get('/api/v1/flows?bucket=week')).text()
    assert.match(await said.innerText(), new RegExp(`^200 OK · ${answer.length} bytes · \\d+ ms$`))
    const shown = await section.locator('form + div pre').innerText()
    assert.equal(shown, JSON.stringify(JSON.parse(answer), null, 2))
    assert.equal(
      await section.getByRole('link', { name: 'Open as a page' }).getAttribute('href'),
      '/flows?bucket=week',
    )
    assert.ok(await section.getByRole('button', { name: 'Stop' }).isHidden())
    const curl = await section.getByRole('button', { name: 'Copy curl' }).getAttribute('data-copy-curl')
    assert.equal(curl, '/api/v1/flows?bucket=week')
    assert.equal(new URL(sight.page.url()).pathname, '/api')
    assert.deepEqual(sight.wrong, [])
  })

  test('shows the problem of the API for a mistake', async () => {
    await using sight = await see()
    const section = sight.page.locator('section[aria-labelledby=event]')
    await section.locator('input[name=seq]').fill('999')
    await section.getByRole('button', { name: 'Send request' }).click()
    await section
      .getByRole('status')
      .filter({ hasText: /^404 Not Found · \d+ bytes/ })
      .waitFor()
    assert.match(await section.locator('form + div pre').innerText(), /"code": "event-not-found"/)
  })

  test('of the stream shows events as they come, until Stop', async () => {
    await using service = await openModelService(Date.UTC(2026, 4, 20))
    const publish = async (ref: string): Promise<void> => {
      const draft = { ref, type: 'treasury', kind: 'deposit', kots: '1' }
      assert.equal((await service.publish([draft], false)).status, 200)
    }
    await publish('first')
    await using sight = await pages.browser.see(`http://127.0.0.1:${service.port()}/api`)
    const section = sight.page.locator('section[aria-labelledby=stream]')
    await section.locator('input[name=after]').fill('0')
    await section.getByRole('button', { name: 'Send request' }).click()
    const shown = section.locator('form + div pre')
    await shown.filter({ hasText: '"seq":1,' }).waitFor()
    await publish('second')
    await shown.filter({ hasText: '"seq":2,' }).waitFor()
    await section.getByRole('button', { name: 'Stop' }).click()
    await section.getByRole('status').filter({ hasText: 'stopped' }).waitFor()
    await publish('third')
    const events = sight.page.locator('section[aria-labelledby=events]')
    await events.getByRole('button', { name: 'Send request' }).click()
    await events.locator('form + div pre').filter({ hasText: '"seq": 3,' }).waitFor()
    assert.ok(!(await shown.innerText()).includes('"seq":3,'))
  })

  test('opens the answer without scripts', async () => {
    await using sight = await see({ javaScriptEnabled: false })
    const section = sight.page.locator('section[aria-labelledby=flows]')
    await section.locator('select[name=bucket]').selectOption('week')
    await section.getByRole('button', { name: 'Send request' }).click()
    assert.match(sight.page.url(), /\/api\/v1\/flows\?bucket=week$/)
  })

  test('is accessible with its answer and all details open', async () => {
    // The tests of all pages cover the closed state.
    await using sight = await see({ viewport: NARROW, colorScheme: 'dark', bypassCSP: true })
    const section = sight.page.locator('section[aria-labelledby=event]')
    await section.getByRole('button', { name: 'Send request' }).click()
    await section
      .getByRole('status')
      .filter({ hasText: / · \d+ bytes/ })
      .waitFor()
    await sight.page.evaluate(() => {
      for (const fold of document.querySelectorAll('details')) fold.open = true
    })
    await assertNoViolations(sight.page)
    await sight.page.setViewportSize({ width: 320, height: 640 })
    await assertNoSidewaysScroll(sight.page)
  })
})

/** Globals of the page, for the functions that run in it. */
declare const document: Readonly<{ querySelectorAll(what: string): Iterable<{ open: boolean }> }>
