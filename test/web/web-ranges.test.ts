import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { DAY_MS, HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import { LAUNCH } from '../story/api-story.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const plain = (text: string): string => text.replaceAll('&amp;', '&')
const pageOf = async (path: string): Promise<string> => plain(await (await stage.get(path)).text())

/** The form that chooses the bucket: the buckets that it offers, and its query after a choice. */
function formOf(page: string): Readonly<{ offered: readonly string[]; sent: (bucket: string) => string }> {
  const form = /<form[^>]*>(?:(?!<\/form>)[^])*<select name="bucket">[^]*?<\/form>/.exec(page)?.[0]
  assert.ok(form, page)
  const fields = [...form.matchAll(/name="(\w+)"\s+value="([^"]+)"/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  return {
    offered: [...form.matchAll(/<option(?: selected)?>(\w+)</g)].map(([, bucket = '']) => bucket),
    sent: (bucket) => new URLSearchParams({ bucket, ...Object.fromEntries(fields) }).toString(),
  }
}

suite('the form of a range', () => {
  for (const path of ['/flows', '/funds']) {
    for (const query of ['', '?from=2026-10-03', '?from=2020-01-01&to=2026-10-01&bucket=month']) {
      test(`of ${path}${query} offers only buckets that are answered`, async () => {
        const { offered, sent } = formOf(await pageOf(`${path}${query}`))
        assert.equal(offered.includes('minute'), !query.includes('2020'))
        assert.ok(offered.includes('month'))
        for (const bucket of offered) {
          const response = await stage.get(`${path}?${sent(bucket)}`)
          assert.equal(response.status, 200, `${path}?${sent(bucket)}`)
          assert.match(await response.text(), new RegExp(`<option selected>${bucket}<`))
        }
      })
    }
  }

  test('keeps chosen dates when the bucket changes', async () => {
    const { sent } = formOf(await pageOf('/flows?from=2026-10-01&to=2026-10-02'))
    assert.match(await pageOf(`/flows?${sent('hour')}`), /name="to"\s+value="2026-10-02T00:00"/)
    assert.doesNotMatch(formOf(await pageOf('/flows')).sent('hour'), /from|to/)
  })

  test('keeps an end in the past', async () => {
    assert.match(await pageOf('/flows?from=2026-10-01&to=2026-10-02'), /name="to"\s+value="2026-10-02T00:00"/)
  })

  test('keeps the shown bucket', async () => {
    const shown = await pageOf('/flows')
    const again = await pageOf(`/flows?${formOf(shown).sent('day')}`)
    const cited = /data-cite href="([^"]*)"/
    assert.equal(cited.exec(again)?.[1], cited.exec(shown)?.[1])
  })
})

suite('the preset ranges of a page', () => {
  test('begin at the launch at the earliest, and each is offered once', async () => {
    const page = await pageOf('/flows')
    const links = [...page.matchAll(/<a href="\/flows\?from=([^&]*)&to=[^&]*&bucket=(\w+)"/g)]
    const offered = links.map(([, from, bucket]) => `${bucket} ${from}`)
    assert.deepEqual(offered, [
      'hour 2026-10-02T01:00:00.000Z',
      'hour 2026-10-01T00:00:00.000Z',
      'day 2026-10-01T00:00:00.000Z',
    ])
  })

  test('end in the present hour, however long the log has been silent', async () => {
    await using quiet = await openApiStage()
    quiet.setNow(msOf(LAUNCH + 5 * DAY_MS + 23 * HOUR_MS))
    for (const path of ['/flows', '/funds']) {
      const page = plain(await (await quiet.get(path)).text())
      const [, href = ''] = /<a href="([^"]*)"[^>]*>24 h<\/a>/.exec(page) ?? []
      assert.equal(href, `${path}?from=2026-10-06T00:00:00.000Z&to=2026-10-07T00:00:00.000Z&bucket=hour`)
      assert.equal((await quiet.get(href)).status, 200)
    }
  })

  test('explain zeros before the launch', async () => {
    for (const path of ['/flows', '/funds']) {
      assert.match(await pageOf(`${path}?from=2026-07-01&to=2026-10-02`), /The log begins at <time/)
    }
    assert.doesNotMatch(await pageOf('/flows?from=2026-10-01&to=2026-10-02'), /The log begins at/)
  })
})

suite('the months of a page', () => {
  const headed = (page: string): string =>
    (/<h1[^>]*>([^]*?)<\/h1>/.exec(page)?.[1] ?? '')
      .replaceAll(/<i>[^<]*<\/i>|<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
  const linksIn = (page: string): readonly (readonly [href: string, label: string])[] =>
    [...page.matchAll(/<a href="([^"]*\bfrom=\d{4}-\d{2}(?:&[^"]*)?)"[^>]*>([^<]*)<\/a/g)].map(
      ([, href = '', label = '']) => [href, label.trim()],
    )

  const pages = [
    // Nothing was published since, so that the answer may still grow.
    ['/flows', 'In November 2026 so far nothing was spent', 'In December 2026 so far nothing'],
    [
      '/funds',
      'In November 2026 the treasury ended at 10.7 times the prizes',
      'The treasury holds 10.7 times',
    ],
    ['/patterns?tz=345', 'In November 2026 nothing was spent on play.', 'In December 2026 so far nothing'],
    ['/events?type=payout', 'Payments in November 2026', 'Payments in December 2026 so far'],
  ] as const
  for (const [path, ended, growing] of pages) {
    test(`of ${path} are this one, the last, and each since the launch, and the heading says which`, async () => {
      await using later = await openApiStage()
      later.setNow(msOf(Date.parse('2026-12-02T10:00Z')))
      const get = async (href: string): Promise<string> => plain(await (await later.get(href)).text())
      const links = linksIn(await get(path))
      assert.deepEqual(
        links.map(([, label]) => label),
        ['Last month', 'This month', 'Oct', 'Nov', 'Dec'],
      )
      for (const [href, label] of links) {
        assert.equal((await later.get(href)).status, 200, href)
        for (const kept of ['tz=345', 'type=payout']) assert.equal(href.includes(kept), path.includes(kept))
        const page = await get(href)
        const names = linksIn(page).map(([, name]) => name)
        assert.equal(names.includes('← November 2026'), label === 'This month' || label === 'Dec')
        assert.equal(names.includes('November 2026 →'), label === 'Oct')
      }
      const last = await get(links[0]?.[0] ?? '')
      assert.ok(headed(last).startsWith(ended))
      assert.match(last, /<title>[^<]* in November 2026 ·/)
      assert.ok(headed(await get(links[1]?.[0] ?? '')).startsWith(growing))
    })
  }

  test('of a log of many years are those of this year and of the shown one, and the other years are links', async () => {
    await using later = await openApiStage()
    later.setNow(msOf(Date.parse('2034-03-02T10:00Z')))
    for (const path of ['/flows', '/patterns', '/events']) {
      const page = plain(await (await later.get(`${path}?from=2030-05&to=2030-06`)).text())
      const names = linksIn(page).map(([, label]) => label)
      assert.deepEqual(names.slice(2, 6), ['Jan', 'Feb', 'Mar', '2033'])
      assert.deepEqual(
        names.filter((name) => /^\d+$/.test(name)),
        ['2033', '2032', '2031', '2029', '2028', '2027', '2026'],
      )
      assert.equal(names.filter((name) => name === 'May').length, 1)
      const [href = ''] = linksIn(page).find(([, label]) => label === '2031') ?? []
      assert.equal((await later.get(href)).status, 200, href)
    }
  })

  test('are named only for a range that is exactly a month', async () => {
    for (const query of ['from=2026-10-01&to=2026-10-02', 'from=2026-09', 'from=2026-10-02']) {
      const page = await pageOf(`/patterns?${query}`)
      assert.match(headed(page), /^(?:Players spend most|Nothing was spent on play in this range)/)
      assert.doesNotMatch(page, /rel="(?:prev|next)"/)
    }
  })
})

suite('a refused range', () => {
  test('that ends in the future links the same range up to now', async () => {
    const page = await pageOf('/flows?from=2026-10-01&to=2099-01-01&bucket=hour')
    const [, href = ''] = /<a href="([^"]*)">The same range up to now<\/a>/.exec(page) ?? []
    assert.match(href, /^\/flows\?from=2026-10-01&to=2026-10-03T00:01:00\.000Z&bucket=hour$/)
    assert.equal((await stage.get(href)).status, 200)
  })

  test('that begins in the future links only the page itself', async () => {
    const page = await pageOf('/flows?from=2098-01-01&to=2099-01-01')
    assert.doesNotMatch(page, /The same range up to now/)
  })

  test('of too many buckets also links the latest of these buckets', async () => {
    const page = await pageOf('/flows?from=2020-01-01&to=2026-10-01&bucket=minute')
    const [, href] = /<a href="([^"]*)">The latest by minute<\/a>/.exec(page) ?? []
    assert.ok(href, page)
    assert.equal((await stage.get(href)).status, 200)
  })
})

suite('the headline of a range of own dates', () => {
  for (const [query, said] of [
    ['from=2026-10-01T00:00Z&to=2026-10-02T01:00Z&bucket=hour', 'From 1 Oct 00:00 to 2 Oct 2026 01:00 UTC'],
    ['from=2026-10-01&to=2026-10-02&bucket=hour', 'On 1 October 2026 so far'],
  ] as const) {
    test(`from ${query} can be quoted`, async () => {
      const [, heading = ''] = /<h1>([^]*?)<\/h1>/.exec(await pageOf(`/flows?${query}`)) ?? []
      const words = heading.replaceAll(/<i>[^<]*<\/i>|<[^>]*>/g, '').replaceAll(/\s+/g, ' ')
      assert.ok(words.startsWith(`${said} `), words)
    })
  }
})
