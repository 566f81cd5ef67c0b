import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { trillionths } from '../../src/protocol/amount.ts'
import { DAY_MS, HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import type { Flows, Funds } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { LAUNCH, plan, type StoryEvent } from '../story/api-story.ts'
import {
  assertNoSidewaysScroll,
  assertThemesSound,
  type BrowserPage,
  NARROW,
  WIDE,
} from '../stage/browser.ts'
import { openPageStage, type PageStage } from '../stage/page-stage.ts'

let pages: PageStage
before(async () => {
  pages = await openPageStage()
})
after(() => pages[Symbol.asyncDispose]())

const HOURS = '/flows?from=2026-10-01&to=2026-10-02&bucket=hour'
const MINUTES = '/flows?from=2026-10-01&to=2026-10-01T04:00Z&bucket=minute'

const answerOf = async <Answer>(path: string): Promise<Answer> =>
  (await (await pages.api.get(`/api/v1${path}`)).json()) as Answer

const sliderOf = ({ page }: BrowserPage): ReturnType<BrowserPage['page']['getByRole']> =>
  page.getByRole('slider')
const readingOf = async (sight: BrowserPage): Promise<string> =>
  (await sliderOf(sight).getAttribute('aria-valuetext')) ?? ''

suite('the slider of a chart', () => {
  test('reads every bucket by keyboard, with the figures of the JSON', async () => {
    const { buckets } = await answerOf<Flows>(HOURS)
    await using sight = await pages.see(HOURS)
    await sliderOf(sight).focus()
    const assertReads = async (index: number): Promise<void> => {
      const reading = await readingOf(sight)
      const { at, complete, spentOnPlay, paidInPrizes, burned, tokenPriceUsd } =
        buckets.at(index) ?? assert.fail()
      assert.equal(
        reading,
        `Hour, UTC: 1 Oct ${at.slice(11, 16)}${complete ? '' : ' so far'}; Spent on play: ${spentOnPlay}; Paid in prizes: ${paidInPrizes}; ` +
          `Burned: ${burned}; Price, USD: ${tokenPriceUsd ?? 'not known'}`,
      )
    }
    await assertReads(-1)
    await sight.page.keyboard.press('Home')
    await assertReads(0)
    for (let press = 0; press < 3; press++) await sight.page.keyboard.press('ArrowRight')
    await assertReads(3)
    await sight.page.keyboard.press('End')
    await assertReads(-1)
  })

  test('marks its bucket in every plot', async () => {
    const { buckets } = await answerOf<Funds>('/funds')
    await using sight = await pages.see('/funds')
    await sliderOf(sight).press('Home')
    for (const plot of await sight.page.locator('svg.plot').all()) {
      const x = Number.parseFloat((await plot.locator('.reading line').getAttribute('x1')) ?? '')
      assert.ok(Math.abs(x - 100 / buckets.length) < 0.001)
    }
  })

  test('says that a balance is that of the end of its bucket', async () => {
    await using sight = await pages.see('/funds?bucket=hour')
    const words = /^Hour, at its end, UTC:? \d+ Oct \d\d:00/
    assert.match(await readingOf(sight), words)
    assert.match(await sight.page.locator('.slider p').innerText(), words)
  })

  test('agrees with the table after an update, and stays at the last bucket when one is added', async () => {
    await using sight = await pages.see(HOURS)
    await sight.page.evaluate(() => {
      const newest = document.querySelector('[data-row="/buckets/23"]')
      const row = newest.cloneNode(true)
      row.setAttribute('data-row', '/buckets/24')
      row.querySelector('data').value = '7.000000000'
      newest.before(row)
      document.querySelector('[data-chart]').setAttribute('data-count', '25')
      document.dispatchEvent(new Event('daybook-changed'))
    })
    assert.match(await readingOf(sight), /Spent on play: 7\.000000000;/)
    assert.equal(await sliderOf(sight).getAttribute('max'), '24')
    assert.equal(await sliderOf(sight).inputValue(), '24')
  })

  test('is hidden without a script, unlike the table', async () => {
    await using sight = await pages.see(HOURS, { javaScriptEnabled: false })
    assert.equal(await sliderOf(sight).count(), 0)
    assert.equal(await sight.page.locator('table.buckets:visible').count(), 1)
    await using long = await pages.see('/flows?from=2026-07-01&to=2026-10-01', { javaScriptEnabled: false })
    await long.page.getByText('The eighty-two days before').click()
    assert.equal(await long.page.locator('table.buckets:visible').count(), 2)
  })
})

/** Asserts that the words of a plot have 13 px, are not cut, and do not cover each other. */
async function assertWordsApart(
  plot: ReturnType<BrowserPage['page']['locator']>,
  width: number,
): Promise<void> {
  const words = await plot.locator('text').evaluateAll((all) =>
    all.flatMap((text) => {
      const element = text as unknown as Element
      const { left, right, top, bottom } = element.getBoundingClientRect()
      const size = getComputedStyle(element).fontSize
      return right > left ? [{ left, right, top, bottom, size, text: element.textContent }] : []
    }),
  )
  assert.ok(words.length >= 2)
  for (const [index, one] of words.entries()) {
    assert.equal(one.size, '13px')
    assert.ok(one.left >= 0 && one.right <= width, `${one.text} is cut`)
    for (const other of words.slice(index + 1)) {
      const apart =
        one.right <= other.left ||
        other.right <= one.left ||
        // Boxes have the height of the font, which is more than that of the letters.
        one.bottom <= other.top + 4 ||
        other.bottom <= one.top + 4
      assert.ok(apart, `${JSON.stringify(one)} and ${JSON.stringify(other)}`)
    }
  }
}

suite('a chart', () => {
  for (const path of [MINUTES, '/funds?bucket=hour', '/patterns?tz=345']) {
    test(`${path} is accessible at any width`, async () => {
      for (const viewport of [WIDE, NARROW]) {
        await using sight = await pages.see(path, { viewport, bypassCSP: true })
        await assertThemesSound(sight.page)
        await sight.page.setViewportSize({ width: 320, height: 640 })
        await assertNoSidewaysScroll(sight.page)
      }
    })
  }

  test('has a name and a description for screen readers', async () => {
    await using sight = await pages.see('/flows')
    const pictures = sight.page.locator('svg[role=img]')
    assert.equal(await pictures.count(), 3)
    for (const picture of await pictures.all()) {
      assert.ok((await picture.locator('title').textContent())?.trim())
      assert.ok((await picture.locator('desc').textContent())?.trim())
    }
  })

  for (const path of ['/flows', HOURS, MINUTES, '/flows?bucket=week', '/flows?bucket=month', '/funds']) {
    test(`of ${path} has words that are whole and apart at any width`, async () => {
      await using sight = await pages.see(path)
      for (const width of [320, 390, 600, 900, 1280]) {
        await sight.page.setViewportSize({ width, height: 800 })
        for (const plot of await sight.page.locator('svg.plot').all()) await assertWordsApart(plot, width)
      }
    })
  }
})

/** Events of a day of the story: two rounds of a play, a prize, its payout, a burn and a price. */
const DAY_EVENTS = 10

/** Ninety days with amounts. The first one has a round only. */
const DAILY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '60000000' },
  { type: 'treasury', kind: 'withdrawal', kots: '1' },
  plan(1, 'A long one', HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 1 },
  { type: 'pool', kind: 'top_up', contestId: 1, kots: '40000000' },
  ...Array.from({ length: 179 }, (_, round): readonly StoryEvent[] => [
    { type: 'play', kind: 'entry', contestId: 1, kots: '170000' },
    { type: 'prize', kind: 'winner', contestId: 1, kots: '190000' },
    { type: 'payout', kind: 'winner', contestId: 1, kots: '190000', tx: `transaction-${round}` },
    { type: 'burn', kind: 'platform_income', kots: '1900' },
    {
      type: 'price',
      kind: 'usd',
      details: { price: trillionths(30_000_000_000n + BigInt(round) * 100_000_000n) },
    },
  ]).flat(),
]

suite('the labels of an axis', () => {
  test('lie over no bar and no line, of a day or of ninety, on a phone and on a wide screen', async () => {
    await using days = await openApiStage({ story: DAILY, apartMs: DAY_MS / DAY_EVENTS })
    days.setNow(msOf(LAUNCH + 92 * DAY_MS))
    const ranges = [1, 2, 5, 30, 90].map(
      (count) => `?from=${msOf(LAUNCH)}&to=${msOf(LAUNCH + count * DAY_MS)}`,
    )
    for (const path of [
      '/',
      '/archive',
      '/contests/1/ledger',
      ...ranges.map((range) => `/flows${range}&bucket=day`),
    ]) {
      await using sight = await pages.browser.see(`http://127.0.0.1:${days.port}${path}`)
      for (const viewport of [NARROW, WIDE]) {
        await sight.page.setViewportSize(viewport)
        for (const plot of await sight.page.locator('svg.plot').all()) {
          const labels = await edgesOf(plot.locator('.halo[data-axis]'))
          const marks = await edgesOf(plot.locator('svg svg path'))
          assert.ok(labels.length > 0 && marks.length > 0, path)
          const end = Math.max(...labels.map(({ right }) => right))
          const start = Math.min(...marks.map(({ left }) => left))
          assert.ok(end <= start, `${path} at ${viewport.width} pixels: ${end} is right of ${start}`)
        }
      }
    }
  })
})

function edgesOf(found: ReturnType<BrowserPage['page']['locator']>): Promise<readonly DOMRect[]> {
  return found.evaluateAll((all) =>
    all.map((one) => {
      const { left, right, top, bottom } = (one as unknown as Element).getBoundingClientRect()
      return { left, right, top, bottom }
    }),
  )
}

suite('the patterns', () => {
  test('are whole without a script, and let the reader choose a UTC offset', async () => {
    await using sight = await pages.see('/patterns', { javaScriptEnabled: false })
    const { page } = sight
    assert.equal(await page.locator('table.heat:visible').count(), 1)
    assert.equal(await page.locator('svg.plot:visible').count(), 5)
    await page.locator('select[name=tz]').selectOption('345')
    await page.getByRole('button', { name: 'Show' }).click()
    assert.match(page.url(), /[?&]tz=345$/)
    assert.equal(await page.locator('select[name=tz]').inputValue(), '345')
  })

  test('have fewer than 700 elements, and a card for each day on a phone, with nothing cut', async () => {
    await using sight = await pages.see('/patterns', { viewport: { width: 320, height: 800 } })
    assert.ok((await sight.page.locator('*').count()) < 700)
    const cells = await sight.page.locator('table.heat td').evaluateAll((all) =>
      all.map((cell) => {
        const { left, right, top } = (cell as unknown as Element).getBoundingClientRect()
        return { left, right, top }
      }),
    )
    assert.equal(cells.length, 7 * 24)
    assert.equal(new Set(cells.map(({ top }) => top)).size, 7 * 6)
    assert.ok(cells.every(({ left, right }) => left >= 0 && right <= 320))
  })

  test('mark the offset of the reader’s time zone', async () => {
    await using sight = await pages.see('/patterns', { timezoneId: 'Asia/Kathmandu' })
    assert.equal(await sight.page.locator('option[value="345"]').innerText(), 'UTC+05:45 (yours now)')
  })
})

suite('a picture', () => {
  for (const path of ['/flows.svg', '/funds.svg?theme=dark', '/patterns.svg?theme=light']) {
    test(`${path} is valid XML`, async () => {
      await using sight = await pages.see('/flows')
      const found = await sight.page.evaluate(async (address) => {
        const text = await (await fetch(address)).text()
        const parsed = new DOMParser().parseFromString(text, 'image/svg+xml')
        return [parsed.documentElement.nodeName, parsed.querySelectorAll('parsererror').length]
      }, path)
      assert.deepEqual(found, ['svg', 0])
    })
  }
})

type DOMRect = Readonly<{ left: number; right: number; top: number; bottom: number }>
/** DOM types, for functions that run in the page. */
declare const getComputedStyle: (element: Element) => Readonly<{ fontSize: string }>
type Element = Readonly<{
  textContent: string
  getAttribute(name: string): string
  getBoundingClientRect(): DOMRect
}>
type Changing = Readonly<{
  querySelector(selector: string): Changing
  cloneNode(deep: boolean): Changing
  before(node: Changing): void
  setAttribute(name: string, value: string): void
  dispatchEvent(event: Event): boolean
}> & { textContent: string; value: string }
declare const document: Changing
declare const DOMParser: new () => {
  parseFromString(
    text: string,
    type: string,
  ): Readonly<{
    documentElement: Readonly<{ nodeName: string }>
    querySelectorAll(selector: string): Readonly<{ length: number }>
  }>
}

suite('a page of what waits', () => {
  test('is accessible in both themes and at any width, and complete without a script', async () => {
    await using waiting = await openApiStage({
      story: [
        { type: 'treasury', kind: 'deposit', kots: '1000' },
        plan(1, 'First', HOUR_MS),
        { type: 'contest', kind: 'opened', contestId: 1 },
        { type: 'pool', kind: 'top_up', contestId: 1, kots: '500' },
        { type: 'contest', kind: 'closed', contestId: 1 },
        {
          type: 'prize',
          kind: 'winner',
          contestId: 1,
          kots: '60',
          details: { unlocksAt: msOf(LAUNCH + 9 * DAY_MS) },
        },
      ],
    })
    for (const path of ['/payouts', '/contests/1/ledger']) {
      const url = `http://127.0.0.1:${waiting.port}${path}`
      for (const viewport of [WIDE, NARROW]) {
        await using sight = await pages.browser.see(url, { viewport, bypassCSP: true })
        await assertThemesSound(sight.page)
        await assertNoSidewaysScroll(sight.page)
      }
      await using bare = await pages.browser.see(url, { javaScriptEnabled: false })
      const subscribing = await bare.page.locator('[data-subscribe] a').count()
      if (path === '/payouts') assert.equal(subscribing, 2)
    }
  })
})
