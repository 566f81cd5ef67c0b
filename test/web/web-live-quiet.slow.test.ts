import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, suite, test } from 'node:test'
import type { CDPSession } from 'playwright-core'
import { openApiStage } from '../stage/api-stage.ts'
import { countsUpTo, type LiveStage, openLiveStage, says, shows } from '../stage/live-stage.ts'
import { ADDRESSES, firstOfEachPage } from './parity/web-addresses.ts'
import type { Counter } from '../../src/serve/allowance/allowance.ts'

/** Most milliseconds of main thread for a live update, at a quarter of the processor's speed. */
const UPDATE_MS_MAX = 50
/** Pages whose updates are measured, with `DAYBOOK_CAMPAIGN` only, since a slow machine needs more time. */
const MEASURED =
  process.env['DAYBOOK_CAMPAIGN'] === undefined ? [] : ['/', '/contests', '/patterns', '/stream']
const SLOWDOWN = 4
/** Least time between updates of a page. */
const REFRESH_MS = 10_000

let stage: LiveStage
before(async () => {
  stage = await openLiveStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('an open page', () => {
  test('moves no list in sight: its new rows wait for the reader', async () => {
    await using sight = await stage.browser.see(`${stage.relay.url}/contests`)
    const { page } = sight
    await says(page, /^Live$/)
    await page.evaluate(`globalThis.shifts = []
      new PerformanceObserver((found) => shifts.push(...found.getEntries())).observe({ type: 'layout-shift' })`)
    const rows = page.locator('main tbody').first().locator('tr')
    const shown = await rows.count()
    await stage.change()
    const more = page.getByRole('button', { name: 'Show what is new' })
    await more.waitFor()
    await countsUpTo(page, stage.published())
    assert.equal(await rows.count(), shown)
    assert.equal(await page.evaluate('shifts.length'), 0)
    await more.click()
    await more.waitFor({ state: 'detached' })
    assert.equal(await rows.count(), shown + 1)
  })

  test('does nothing while it is hidden, and is refreshed once when it is back', async () => {
    await using sight = await stage.browser.see(`${stage.relay.url}/contests`)
    const { page } = sight
    await says(page, /^Live$/)
    const asked: string[] = []
    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/live'))
    await page.evaluate(setHidden, true)
    await ended
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await stage.publish(1)
    await page.evaluate(() => {
      Object.assign(globalThis, { changes: 0 })
      new MutationObserver(() => (changes += 1)).observe(document.body, { childList: true, subtree: true })
    })
    await sleep(2_500)
    assert.deepEqual(asked, [])
    assert.equal(await page.evaluate('changes'), 0)
    await page.evaluate(setHidden, false)
    await countsUpTo(page, stage.published())
    await says(page, /^Live$/)
    await sleep(500)
    assert.deepEqual(new Set(asked), new Set(['/contests', '/live']))
    assert.equal(asked.length, 2)
  })

  test('hands the stream to a tab in sight when its own tab is hidden', async () => {
    await using sight = await stage.browser.see(`${stage.relay.url}/stream`)
    await says(sight.page, /^Live$/)
    const other = await sight.page.context().newPage()
    await other.goto(`${stage.relay.url}/stream`)
    await says(other, /^Live$/)
    const opened = other.waitForRequest((request) => request.url().endsWith('/live'))
    await sight.page.evaluate(setHidden, true)
    await opened
    await stage.publish(1)
    await shows(other, stage.published())
  })

  test('says that its allowance is spent and when it goes on, moves nothing, and goes on', async () => {
    await using sight = await stage.browser.see(`${stage.relay.url}/summary`)
    const { page } = sight
    await says(page, /^Live$/)
    const box = await page.locator('h1').boundingBox()
    const retryAfter = 4
    await page.route('**/summary', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': String(retryAfter) }, body: '' }),
    )
    const refused = page.waitForResponse('**/summary')
    await stage.publish(1)
    await refused
    const refusedMs = Date.now()
    const notice = page.locator('.notice')
    await notice.waitFor()
    const words = await notice.innerText()
    const [, at = ''] =
      /^Too many requests from your address\. This page updates again at (\d\d:\d\d:\d\d) UTC\.$/.exec(
        words,
      ) ?? []
    const today = new Date(refusedMs).toISOString().slice(0, 11)
    const waitMs = Date.parse(`${today}${at}Z`) - refusedMs
    assert.ok(waitMs > retryAfter * 1_000 - 2_000 && waitMs < retryAfter * 1_000 + 2_000, words)
    assert.deepEqual(await page.locator('h1').boundingBox(), box)
    await page.unrouteAll()
    await notice.waitFor({ state: 'detached' })
    await countsUpTo(page, stage.published())
    await says(page, /^Live$/)
    assert.ok(Date.now() >= refusedMs + retryAfter * 1_000 - 1_000, 'it waits as long as it is told')
  })

  for (const path of MEASURED) {
    test(`${path} takes little of a slow phone for an update`, async () => {
      await using sight = await stage.browser.see(`${stage.relay.url}${path}`)
      const { page } = sight
      await says(page, /^Live$/)
      // The first update warms the script up, and the work of loading has ended by then.
      await stage.publish(1)
      await countsUpTo(page, stage.published())
      await sleep(REFRESH_MS)
      const devtools = await page.context().newCDPSession(page)
      const ms = await mainThreadMs(devtools, async () => {
        await stage.publish(1)
        // Waiting for an element would take processor time of the page.
        await sleep(1_500)
      })
      await countsUpTo(page, stage.published())
      assert.ok(ms > 0 && SLOWDOWN * ms <= UPDATE_MS_MAX, `${SLOWDOWN * ms} ms`)
    })
  }
})

suite('looking at pages', () => {
  test('uses nothing of the allowance of the API', async () => {
    const asked: string[] = []
    const counter = (name: string): Counter => ({
      policy: { name, requests: 600, windowMs: 60_000 },
      decide() {
        asked.push(name)
        return { allowed: true, remaining: 600, resetSeconds: 0, retryAfterSeconds: 0 }
      },
    })
    const counters = { api: counter('default'), tiles: counter('tiles'), pages: counter('pages') }
    const visited = firstOfEachPage(ADDRESSES, 1)
    await using api = await openApiStage({ streams: true, counters })
    await using sight = await stage.browser.see(`http://127.0.0.1:${api.port}/`)
    for (const address of visited) {
      await sight.page.goto(`http://127.0.0.1:${api.port}${address}`)
      api.trade(1)
      await sleep(200)
    }
    assert.ok(asked.length > visited.length, 'pages are asked for, and the stream of pages')
    assert.deepEqual(new Set(asked), new Set(['pages']))
    assert.deepEqual(sight.wrong, [])
  })
})

/** Processor time of the page's main thread while `run` runs. It counts no waiting for other programs. */
async function mainThreadMs(devtools: CDPSession, run: () => Promise<void>): Promise<number> {
  const events: TraceEvent[] = []
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  const complete = new Promise((resolve) => devtools.once('Tracing.tracingComplete', resolve))
  await devtools.send('Tracing.start', { traceConfig: { includedCategories: ['toplevel'] } })
  await run()
  await devtools.send('Tracing.end')
  await complete
  const main = events.find(({ args }) => args?.name === 'CrRendererMain')
  return events
    .filter(({ name, pid, tid }) => name.endsWith('RunTask') && pid === main?.pid && tid === main.tid)
    .reduce((sum, { tdur = 0 }) => sum + tdur / 1_000, 0)
}

type TraceEvent = Readonly<{
  name: string
  pid: number
  tid: number
  /** Processor time of the thread, in microseconds. */
  tdur?: number
  args?: Readonly<{ name?: string }>
}>

/** Makes the page believe that its tab is hidden, or in sight again. */
function setHidden(hidden: boolean): void {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
}

/** The page's global object, for scripts that run in the page. */
declare const document: Readonly<{ body: unknown; dispatchEvent(event: Event): void }>
declare let changes: number
declare class MutationObserver {
  constructor(heard: () => void)
  observe(what: unknown, how: unknown): void
}
