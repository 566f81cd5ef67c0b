import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { LiveStage } from '../stage/live-stage.ts'
import { list, openLiveStage, says, shows } from '../stage/live-stage.ts'

let stage: LiveStage
let base: string
before(async () => {
  stage = await openLiveStage()
  base = stage.relay.url
})
after(() => stage[Symbol.asyncDispose]())

const STREAM = '**/api/v1/stream'
/** A page of the service without anything live, to prepare from. */
const NOWHERE = '/nothing'

/** The address of the event that the page's own line says it counts. */
const countsUpTo = (page: Page, seq: number): Promise<void> =>
  page.locator('.as-of a.seq', { hasText: `#${seq}` }).waitFor()

const focusedText = (page: Page): Promise<string> => page.evaluate(() => document.activeElement.textContent)

suite('an open page', () => {
  for (const [told, header, waits] of [
    ['nothing', undefined, [1, 2, 4, 8, 16, 30, 30]],
    ['a date', 'Wed, 21 Oct 2037 07:28:00 GMT', [1, 2, 4, 8, 16, 30, 30]],
    ['ten seconds', '10', [11, 11, 11, 11, 16, 30, 30]],
    ['a month', '2592000', [3_601, 3_601]],
  ] as const) {
    test(`asks for the stream ever more rarely when a refusal says ${told} of when to come again`, async () => {
      await using sight = await stage.browser.see(`${base}${NOWHERE}`)
      const { page } = sight
      let asked = 0
      await page.route(STREAM, (route) => {
        asked += 1
        const headers = header === undefined ? {} : { 'retry-after': header }
        return route.fulfill({ status: 503, headers, body: '' })
      })
      await page.clock.install()
      await page.clock.pauseAt(Date.now() + 1_000)
      // The longest that chance can make a wait: what is said is what is waited.
      await page.addInitScript(() => Object.assign(Math, { random: () => 1 }))
      await page.goto(`${base}/summary`)
      for (const [index, seconds] of waits.entries()) {
        await says(page, `Reconnecting, next try in ${seconds} s`)
        assert.equal(asked, index + 1)
        const again = page.waitForRequest(STREAM)
        await page.clock.runFor(seconds * 1_000 - 1)
        assert.equal(asked, index + 1)
        await page.clock.runFor(1)
        await again
      }
    })
  }

  test('asks for itself no more often when it is refused with a date', async () => {
    await using sight = await stage.browser.see(`${base}/stream`)
    const { page } = sight
    await says(page, /^Live$/)
    let asked = 0
    await page.route('**/stream', (route) => {
      if (route.request().url().includes('/api/')) return route.continue()
      asked += 1
      const headers = { 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT' }
      return route.fulfill({ status: 503, headers, body: '' })
    })
    await stage.publish(1)
    await sleep(4_000)
    assert.ok(asked <= 2, `${asked} requests`)
  })

  test('says that another log is served, and shows nothing of it as its own', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    const data = JSON.stringify({ seq: 5, head: 5, live: true })
    await page.route(STREAM, (route) =>
      route.fulfill({
        headers: { 'content-type': 'text/event-stream', 'daybook-log': 'f'.repeat(32) },
        body: `event: position\nid: 5\ndata: ${data}\n\n`,
      }),
    )
    await page.goto(`${base}/stream`)
    await says(page, /^Another log is here now: reload$/)
  })

  test('is not live where something else than a stream is answered', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.route(STREAM, (route) => route.fulfill({ contentType: 'text/html', body: '<p>Sign in</p>' }))
    await page.goto(`${base}/stream`)
    await says(page, /^Reconnecting/)
  })

  test('does not go back to an earlier answer', async () => {
    await using sight = await stage.browser.see(`${base}/summary`)
    const { page } = sight
    await says(page, /^Live$/)
    const earlier = await (await fetch(`${base}/summary`)).text()
    await stage.publish(1)
    await countsUpTo(page, stage.published())
    const last = stage.published()
    await page.route('**/summary', (route) => route.fulfill({ contentType: 'text/html', body: earlier }))
    const asked = page.waitForRequest('**/summary', { timeout: 20_000 })
    await stage.publish(1)
    await asked
    await sleep(500)
    await countsUpTo(page, last)
  })

  test('has a stream of its own where locks are not given', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.addInitScript(() => {
      Object.assign(globalThis, { asked: 0 })
      const denied = (): Promise<never> => {
        Object.assign(globalThis, { asked: Number(Reflect.get(globalThis, 'asked')) + 1 })
        return Promise.reject(new DOMException('no', 'SecurityError'))
      }
      Object.defineProperty(navigator.locks, 'request', { value: denied })
    })
    await page.goto(`${base}/stream`)
    await says(page, /^Live$/)
    await stage.publish(1)
    await shows(page, stage.published())
    assert.equal(await page.evaluate('asked'), 1)
  })

  test('keeps the rest of its script where a browser cannot follow', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.addInitScript(() => {
      Reflect.set(globalThis, 'BroadcastChannel', function broken(): never {
        throw new DOMException('no', 'SecurityError')
      })
    })
    await page.goto(`${base}/flows`)
    await page.locator('.slider input[type=range]').waitFor()
  })

  test('asks for itself when it is seen again, though the stream says nothing', async () => {
    await using sight = await stage.browser.see(`${base}${NOWHERE}`)
    const { page } = sight
    await page.route(STREAM, (route) => route.abort())
    await page.goto(`${base}/stream`)
    await says(page, /^Offline/)
    await stage.publish(1)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await shows(page, stage.published())
  })

  test('keeps the focus on its buttons, and what is selected of it', async () => {
    await using sight = await stage.browser.see(`${base}/flows`)
    const { page } = sight
    await says(page, /^Live$/)
    await page.locator('button', { hasText: 'Copy curl' }).first().focus()
    await page.evaluate(() => {
      getSelection().selectAllChildren(document.querySelector('main p.quiet time'))
    })
    const selected = await page.evaluate(() => getSelection().toString())
    assert.match(selected, /UTC$/)
    await stage.publish(1)
    await countsUpTo(page, stage.published())
    assert.equal(await focusedText(page), 'Copy curl')
    assert.equal(await page.evaluate(() => getSelection().toString()), selected)
  })

  test('of a list without a row yet shows the first that comes', async () => {
    await using sight = await stage.browser.see(`${base}/stream?type=burn`)
    const { page } = sight
    await says(page, /^Live$/)
    assert.equal(await page.locator(list).count(), 0)
    await stage.append({ type: 'burn', kind: 'platform_income', kots: '1' })
    await shows(page, stage.published())
  })

  test('with figures keeps them up while its list is read, and leaves the rows', async () => {
    await using sight = await stage.browser.see(`${base}/summary`)
    const { page } = sight
    await says(page, /^Live$/)
    const first = page.locator(`${list} tr:first-child a.seq`)
    const shown = await first.textContent()
    await first.focus()
    await stage.publish(1)
    await countsUpTo(page, stage.published())
    assert.equal(await first.textContent(), shown)
  })
})

/** As the scripts run within the page see it. */
declare const document: Readonly<{
  activeElement: { textContent: string }
  dispatchEvent(event: Event): void
  querySelector(selector: string): unknown
}>
declare function getSelection(): { selectAllChildren(of: unknown): void; toString(): string }
