import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import type { Flows, Funds } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { LAUNCH } from '../story/api-story.ts'
import { assertParity, sourcesOf } from './parity/parity.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const textOf = async (path: string): Promise<string> => (await stage.get(path)).text()
const jsonOf = async <Answer>(path: string): Promise<Answer> => JSON.parse(await textOf(path)) as Answer

const unescaped = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'")

/** Rows of the tables of buckets, the earliest first: their moments and figures. */
function rowsOf(page: string): readonly (readonly string[])[] {
  return [...page.matchAll(/<tr data-row="\/buckets\/\d+">([^]*?)<\/tr>/g)]
    .map(([, row = '']) =>
      [...row.matchAll(/(?:datetime|value)="([^"]*)"|class="none"/g)].map(([, value = 'null']) => value),
    )
    .toReversed()
}

/** Descriptions of a page's pictures. */
const descriptionsOf = (page: string): readonly string[] =>
  [...page.matchAll(/<desc[^>]*>([^<]*)<\/desc>/g)].map(([, text = '']) => unescaped(text))

const RANGES = [
  '',
  '?from=2026-10-01&to=2026-10-02&bucket=hour',
  '?from=2026-10-01&to=2026-10-01T04:00Z&bucket=minute',
]

suite('the chart of flows', () => {
  for (const range of RANGES) {
    test(`has a table of the same figures as the JSON${range === '' ? '' : ` of ${range}`}`, async () => {
      const { buckets } = await jsonOf<Flows>(`/api/v1/flows${range}`)
      const expected = buckets.map((one) => [
        one.at,
        one.spentOnPlay,
        one.paidInPrizes,
        one.burned,
        String(one.tokenPriceUsd),
      ])
      assert.deepEqual(rowsOf(await textOf(`/flows${range}`)), expected)
    })
  }

  test('describes its least, greatest and last figures', async () => {
    const { buckets } = await jsonOf<Flows>('/api/v1/flows')
    const [amounts = ''] = descriptionsOf(await textOf('/flows'))
    const spent = buckets.map(({ spentOnPlay }) => spentOnPlay)
    const most = spent.toSorted((a, b) => Number(a) - Number(b)).at(-1)
    assert.match(amounts, new RegExp(`greatest ${most} in the bucket of .*?, last ${spent.at(-1)}\\.`))
  })

  const headingOf = async (path: string): Promise<string> =>
    (/<h1>([^]*?)<\/h1>/.exec(await textOf(path))?.[1] ?? '')
      .replaceAll(/<i>[^<]*<\/i>|<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()

  test('is headed by what was spent and how much of it was paid, cut', async () => {
    assert.equal(
      await headingOf('/flows?from=2026-10-01&to=2026-10-02&bucket=hour'),
      'On 1 October 2026 so far players spent 12.75 KOTS. 117.6% of that was paid in prizes.',
    )
    assert.equal(
      await headingOf('/flows?from=2026-09-01&to=2026-09-08'),
      'From 1 to 7 September 2026 nothing was spent on play.',
    )
    assert.equal(
      await headingOf('/flows?from=2026-09-01&to=2026-09-08T00:10Z&bucket=hour'),
      'From 1 Sep 00:00 to 8 Sep 2026 01:00 UTC nothing was spent on play.',
    )
  })

  test('says on which day most was paid, and links its payments', async () => {
    const page = await textOf('/flows?from=2026-09-28&to=2026-10-02')
    const caption = /<figcaption>([^]*?)<\/figcaption>/.exec(page)?.[1] ?? ''
    assert.match(
      caption.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' '),
      /Most was paid on 1 Oct 2026: its payments\./,
    )
    const [, href = ''] = /href="(\/events[^"]*)"/.exec(caption) ?? []
    const events = await (await stage.get(`/api/v1${unescaped(href)}`)).text()
    assert.match(events, /"type":"payout"/)
    assert.doesNotMatch(events, /"type":"play"/)
  })

  test('has the name of the line, and the figure and the day of its highest bar', async () => {
    const page = await textOf('/flows')
    assert.match(
      page,
      />Paid in prizes: <tspan data-expr="cut \/buckets\/\d+\/paidInPrizes"\s*>15\.00<\/tspan/,
    )
    assert.match(page, /<tspan\s+data-expr="day \/buckets\/\d+\/at"\s*>1 Oct<\/tspan/)
    assert.match(page, />Spent on play</)
  })

  test('is pale for an unfinished bucket, but for no bucket of a past range', async () => {
    assert.match(await textOf('/flows'), /class="f2 pale"/)
    assert.doesNotMatch(await textOf('/flows?from=2026-09-01&to=2026-09-30'), /pale/i)
  })

  test('has separate axes for amounts and price', async () => {
    const page = await textOf('/flows')
    assert.equal(page.match(/role="img"/g)?.length, 3)
    assert.match(page, /Price of KOTS at each day’s end, USD/)
  })
})

suite('the presets of ranges', () => {
  const asked = [
    ['/flows', 'of the default range'],
    ['/flows?bucket=minute', 'of the present hours'],
    ['/flows?bucket=week', 'of weeks'],
    ['/flows?bucket=month', 'of months'],
    ['/flows?from=2026-09-01&to=2026-09-02&bucket=minute', 'of a range before launch'],
    ['/funds', 'of the funds'],
    ['/funds?bucket=hour', 'of the funds by hour'],
  ] as const
  for (const [address, name] of asked) {
    test(`${name} all link a page that marks the range as current`, async () => {
      const page = await textOf(address)
      const nav = /<nav aria-label="Ranges"[^]*?<\/nav>/.exec(page)?.[0] ?? ''
      const links = [...nav.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => unescaped(href))
      assert.ok(links.length >= 2)
      assert.equal(new Set(links).size, links.length)
      for (const link of links) {
        const response = await stage.get(link)
        assert.equal(response.status, 200, link)
        assert.match(await response.text(), /<a href="[^"]+" aria-current="true">/, link)
      }
    })
  }

  test('of an empty log link pages too, but not the whole log', async () => {
    await using empty = await openApiStage({ story: [] })
    const page = await (await empty.get('/flows')).text()
    const nav = /<nav aria-label="Ranges"[^]*?<\/nav>/.exec(page)?.[0] ?? ''
    const links = [...nav.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => unescaped(href))
    assert.equal(links.length, 4)
    for (const link of links) assert.equal((await empty.get(link)).status, 200, link)
  })
})

suite('the funds', () => {
  test('have a table of the same figures as the JSON', async () => {
    const { buckets } = await jsonOf<Funds>('/api/v1/funds')
    const expected = buckets.map((one) => [
      one.at,
      one.treasury,
      one.prizesNotRedeemed,
      one.runningPools,
      one.loyaltyFund,
    ])
    assert.deepEqual(rowsOf(await textOf('/funds')), expected)
  })

  test('have a ratio of the treasury to unpaid prizes, cut off', async () => {
    const { now } = await jsonOf<Funds>('/api/v1/funds')
    assert.equal(now.treasury, '911.749999999')
    assert.equal(now.prizesNotRedeemed, '85.000000000')
    assert.match(
      await textOf('/funds'),
      /holds\s+<span data-expr="ratio \/now\/treasury \/now\/prizesNotRedeemed">10\.7<\/span\s*>\s+times/,
    )
  })

  test('say that no prize waits', async () => {
    await using empty = await openApiStage({ story: [{ type: 'treasury', kind: 'deposit', kots: '5' }] })
    assert.match(await (await empty.get('/funds')).text(), /No prize is waiting to be paid now\./)
  })

  test('have a plot each, over the same time', async () => {
    const page = await textOf('/funds')
    const days = page
      .split(/<svg\s+class="plot inset"/)
      .slice(1)
      .map((svg) =>
        [...svg.matchAll(/data-axis=""[^>]*dx="5"[^>]*>\s*([^<]*?)\s*</g)]
          .map(([, label]) => label)
          .join(' '),
      )
    assert.equal(days.length, 4)
    assert.equal(new Set(days).size, 1)
  })
})

suite('charts of corrections', () => {
  test('go below zero, with exact figures', async () => {
    await using corrected = await openApiStage({
      story: [
        { type: 'treasury', kind: 'deposit', kots: '100' },
        { type: 'burn', kind: 'platform_income', kots: '7' },
        ...Array.from({ length: 60 }, () => ({ type: 'trade', kind: 'buy', kots: '1' }) as const),
        { type: 'correction', kind: 'burn', kots: '-7', details: { corrects: 2 as never } },
      ],
    })
    for (const path of ['/flows?from=2026-10-01&to=2026-10-02&bucket=hour', '/patterns']) {
      const page = await (await corrected.get(path)).text()
      const answers = await Promise.all(
        sourcesOf(page).map(async (source) => (await corrected.get(source)).text()),
      )
      assertParity(page, answers)
      assert.match(page, /-7/)
    }
  })
})

suite('the longest chart', () => {
  const query = `?from=2026-10-01&to=${msOf(LAUNCH + DAY_MS + HOUR_MS)}&bucket=minute`

  test('has 1,500 buckets, and paths of at most 30 KiB', async () => {
    const { buckets } = await jsonOf<Flows>(`/api/v1/flows${query}`)
    assert.equal(buckets.length, 1_500)
    const paths = [...(await textOf(`/flows${query}`)).matchAll(/ d="([^"]*)"/g)].map(([, path = '']) => path)
    assert.ok(paths.every((path) => path.length < 30 * 1024))
  })

  for (const path of ['/flows', '/funds']) {
    test(`on ${path} shows the first rows of its table, and links all of them`, async () => {
      const page = await textOf(`${path}${query}`)
      assert.equal(rowsOf(page).length, 10)
      assert.match(page, /type="range" min="0" max="1499"/)
      const [, href = '', said] = /<a href="([^"]+)">The CSV has all <span[^>]*>(\d+)</.exec(page) ?? []
      const csv = await textOf(unescaped(href))
      assert.equal(csv.trimEnd().split('\r\n').length, 1 + Number(said))
      assert.equal(said, '1500')
    })
  }
})

suite('a range of too many buckets', () => {
  test('is refused with a link to the same range in wider buckets', async () => {
    const response = await stage.get('/funds?from=2026-01-01&to=2026-10-02&bucket=minute')
    assert.equal(response.status, 400)
    const [, link = ''] = /<a href="([^"]+)">The same range by day</.exec(await response.text()) ?? []
    const page = await (await stage.get(unescaped(link))).text()
    assert.match(page, /The CSV has all <span[^>]*>274</)
  })
})
