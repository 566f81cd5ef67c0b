import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Flows, Patterns } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { shortAmount } from '../../src/web/markup/amount-html.ts'
import { about } from '../../src/web/charts/chart-heat.ts'
import { type BrowserPage, NARROW } from '../stage/browser.ts'
import { openPageStage, type PageStage } from '../stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage()
})
after(() => pages[Symbol.asyncDispose]())

const HOURS = '/flows?from=2026-10-01&to=2026-10-02&bucket=hour'

const answerOf = async <Answer>(path: string): Promise<Answer> =>
  (await (await pages.api.get(`/api/v1${path}`)).json()) as Answer

/** Width of the labels left of a plot. */
const AXIS_WIDTH = 48

/** A place on a plot, in pixels of the window. */
async function placeOf({ page }: BrowserPage, plot: string, share: number) {
  const found = page.locator(plot)
  await found.scrollIntoViewIfNeeded()
  const { x, y, width } = (await found.boundingBox()) ?? assert.fail()
  return { x: x + AXIS_WIDTH + share * (width - AXIS_WIDTH), top: y, y: y + 60 }
}

async function pointAt(sight: BrowserPage, plot: string, share: number): Promise<void> {
  const { x, y } = await placeOf(sight, plot, share)
  await sight.page.mouse.move(x, y)
}

/** Lines of the card on a plot, once there is one. */
async function cardOf({ page }: BrowserPage, plot: string): Promise<readonly string[]> {
  const lines = page.locator(`${plot} .reading text`)
  await lines.first().waitFor()
  return lines.allTextContents()
}

/** Asserts the lines of the card on a plot, once its first line is there: the browser answers a moment later. */
async function assertCard(sight: BrowserPage, plot: string, lines: readonly string[]): Promise<void> {
  const card = sight.page.locator(`${plot} .reading`)
  await card.filter({ hasText: lines[0] ?? '' }).waitFor()
  assert.deepEqual(await card.locator('text').allTextContents(), lines)
}

const cardsIn = ({ page }: BrowserPage): Promise<number> => page.locator('.reading text').count()

/** Lines of the card of an hour, from the answer. */
async function hourLines(path: string, index: number): Promise<readonly string[]> {
  const { at, complete, spentOnPlay, paidInPrizes } =
    (await answerOf<Flows>(path)).buckets.at(index) ?? assert.fail()
  return [
    `1 Oct ${at.slice(11, 16)}${complete ? '' : ' so far'} `,
    `Spent on play ${shortAmount(spentOnPlay)}`,
    `Paid in prizes ${shortAmount(paidInPrizes)}`,
  ]
}

suite('a chart', () => {
  test('shows the figures under the mouse, keeps those of a click, and forgets them on Escape', async () => {
    await using sight = await pages.see(HOURS)
    await pointAt(sight, '#flows', 0.5 / 24)
    await assertCard(sight, '#flows', await hourLines(HOURS, 0))
    const names = sight.page.locator('#flows > .halo:not([data-axis]):visible')
    assert.equal(await names.count(), 0, 'labels beside a card')
    await pointAt(sight, '#flows', 5.5 / 24)
    await assertCard(sight, '#flows', await hourLines(HOURS, 5))
    assert.equal(await sight.page.getByRole('slider').inputValue(), '5')
    await sight.page.mouse.down()
    await sight.page.mouse.up()
    // Another plot of the same buckets has the mark too.
    await pointAt(sight, '#burned', 0.5 / 24)
    await sight.page.locator('#price .reading').filter({ hasText: '1 Oct 00:00' }).waitFor()
    await sight.page.mouse.move(1, 1)
    await assertCard(sight, '#flows', await hourLines(HOURS, 5))
    await sight.page.keyboard.press('Escape')
    assert.equal(await cardsIn(sight), 0)
    assert.equal(await names.count(), 3)
  })

  test('opens the range of a drag in narrower buckets, up to the present if it is not over', async () => {
    await using sight = await pages.see(HOURS)
    const { page } = sight
    const drag = async (from: number, to: number): Promise<void> => {
      await pointAt(sight, '#flows', from / 24)
      await page.mouse.down()
      await pointAt(sight, '#flows', to / 24)
    }
    await drag(4.5, 2.5)
    await assertCard(sight, '#flows', ['from 1 Oct 02:00 ', 'to 1 Oct 04:00 '])
    await page.keyboard.press('Escape')
    await page.mouse.up()
    assert.equal(await cardsIn(sight), 0)
    assert.equal(page.url(), pages.urlOf(HOURS))
    await drag(2.5, 4.5)
    await page.mouse.up()
    await page.waitForURL(/bucket=minute/)
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), {
      from: '2026-10-01T02:00:00.000Z',
      to: '2026-10-01T05:00:00.000Z',
      bucket: 'minute',
    })
    await page.goto(pages.urlOf(HOURS))
    await drag(12.5, 23.5)
    await page.mouse.up()
    await page.waitForURL(/from=2026-10-01T12/)
    assert.equal(new URL(page.url()).searchParams.get('to'), null)
    assert.ok(await page.locator('#flows').isVisible())
  })

  test('is read by a finger that moves along it, and lets the page scroll under one that moves up', async () => {
    await using sight = await pages.see(HOURS, { viewport: NARROW, hasTouch: true, isMobile: true })
    const { page } = sight
    const session = await page.context().newCDPSession(page)
    const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0): Promise<void> => {
      await session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: type === 'touchEnd' ? [] : [{ x, y }],
      })
    }
    const { x, y } = await placeOf(sight, '#flows', 2.5 / 24)
    const { x: end } = await placeOf(sight, '#flows', 9.5 / 24)
    await touch('touchStart', x, y)
    for (let step = 1; step <= 5; step++) await touch('touchMove', x + ((end - x) * step) / 5, y)
    await assertCard(sight, '#flows', await hourLines(HOURS, 9))
    await touch('touchEnd')
    await assertCard(sight, '#flows', await hourLines(HOURS, 9))
    assert.equal(page.url(), pages.urlOf(HOURS))
    const scrolled = await page.evaluate('scrollY')
    await touch('touchStart', x, y)
    for (let step = 1; step <= 5; step++) await touch('touchMove', x, y - step * 30)
    await touch('touchEnd')
    assert.ok(Number(await page.evaluate('scrollY')) > Number(scrolled))
    await assertCard(sight, '#flows', await hourLines(HOURS, 9))
    // A finger that was held down chooses a range.
    const still = await placeOf(sight, '#flows', 2.5 / 24)
    await touch('touchStart', still.x, still.y)
    await page.locator('#flows .reading rect.area').waitFor()
    await touch('touchMove', end, still.y)
    await touch('touchEnd')
    await page.waitForURL(/from=2026-10-01T02.*to=2026-10-01T10/)
  })

  test('keeps the chosen hour when the range moves on, and forgets it on a click beside the charts', async () => {
    await using sight = await pages.see(HOURS)
    const slider = sight.page.getByRole('slider')
    await slider.press('ArrowLeft')
    await slider.press('ArrowLeft')
    await sight.page.evaluate(() => {
      const charts = document.querySelector('[data-chart]')
      for (const name of ['data-from', 'data-to'])
        charts.setAttribute(name, String(Number(charts.getAttribute(name)) - 3_600_000))
      document.dispatchEvent(new Event('daybook-changed'))
    })
    assert.equal(await slider.inputValue(), '22')
    assert.notEqual(await cardsIn(sight), 0)
    await sight.page.locator('h1').click()
    assert.equal(await cardsIn(sight), 0)
  })

  test('of the start page reads the page that has its figures, by mouse and by keys', async () => {
    const { buckets } = await answerOf<Flows>('/flows')
    await using sight = await pages.see('/')
    await pointAt(sight, '#flows', 0.5 / buckets.length)
    const [first] = buckets
    assert.deepEqual((await cardOf(sight, '#flows')).slice(1), [
      `Spent on play ${shortAmount(first?.spentOnPlay ?? '')}`,
      `Paid in prizes ${shortAmount(first?.paidInPrizes ?? '')}`,
    ])
    await sight.page.getByRole('slider').press('End')
    const said = await sight.page.getByRole('slider').getAttribute('aria-valuetext')
    assert.match(said ?? '', new RegExp(`Spent on play: ${buckets.at(-1)?.spentOnPlay};`))
  })

  test('reads hours that its table leaves out', async () => {
    const path = '/flows?from=2026-10-01&to=2026-10-02T01:00Z&bucket=minute'
    const { buckets } = await answerOf<Flows>(path)
    await using sight = await pages.see(path)
    await pointAt(sight, '#flows', 9.5 / buckets.length)
    await assertCard(sight, '#flows', await hourLines(path, 9))
  })

  test('of steps and of hours of the week shows the figure of a mark', async () => {
    await using contest = await pages.see('/contests/1/ledger')
    await pointAt(contest, '#paid', 0.99)
    const [paid] = await cardOf(contest, '#paid')
    assert.match(paid ?? '', /^1 Oct 2026 00:\d\d \d+\.\d\d$/)
    await using week = await pages.see('/patterns')
    const { cells } = await answerOf<Patterns>('/patterns')
    const most = cells.findIndex(({ plays }) => plays > 0)
    const { x, top } = await placeOf(week, '#plays svg.plot', ((most % 24) + 0.5) / 24)
    await week.page.mouse.move(x, top + (Math.floor(most / 24) + 0.5) * 18)
    const [hour] = await cardOf(week, '#plays')
    assert.ok(hour?.endsWith(` ${about(String(cells[most]?.plays))}`) === true, hour ?? '')
  })
})

/** Globals of the page, for the functions that run in it. */
declare const document: Readonly<{
  querySelector(selector: string): Readonly<{
    getAttribute(name: string): string
    setAttribute(name: string, value: string): void
  }>
  dispatchEvent(event: Event): boolean
}>
