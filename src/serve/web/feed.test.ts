import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage } from '../../../test/api-stage.ts'
import { openApiStage } from '../../../test/api-stage.ts'
import { badgeOf } from './badge.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('the feed', () => {
  test('holds contests, corrections and rewards, newest first, each with an address of its own', async () => {
    const response = await stage.get('/feed.atom')
    const feed = await response.text()
    assert.equal(response.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
    assert.match(
      feed,
      /^<\?xml version="1\.0" encoding="utf-8"\?>\s*<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom">/,
    )
    const ids = [...feed.matchAll(/<entry>\s*<title>[^<]*<\/title>\s*<id>([^<]*)<\/id>/g)].map(([, id]) => id)
    assert.deepEqual(
      ids,
      [13, 12, 7, 3, 2].map((seq) => `http://127.0.0.1:${stage.port}/events/${seq}`),
    )
    const [newest] = [...feed.matchAll(/<updated>([^<]*)<\/updated>/g)].map(([, at]) => at)
    assert.equal(newest, '2026-10-01T00:12:00.000Z')
  })

  test('holds what is asked for, and is not sent twice', async () => {
    const response = await stage.get('/feed.atom?type=payout')
    assert.match(
      await response.text(),
      /<title>#10 payout \/ voter_share of contest 1: 15\.000000000 KOTS<\/title>/,
    )
    const again = await stage.get('/feed.atom?type=payout', {
      'If-None-Match': response.headers.get('etag') ?? '',
    })
    assert.equal(again.status, 304)
    assert.equal((await stage.get('/feed.atom?type=news')).status, 400)
  })

  test('is a feed without entries too', async () => {
    const feed = await (await stage.get('/feed.atom?type=correction')).text()
    assert.doesNotMatch(feed, /<entry>/)
    assert.match(feed, /<updated>1970-01-01T00:00:00\.000Z<\/updated>/)
  })
})

suite('a badge', () => {
  const contest = (prizesRedeemed: string, prizesNotRedeemed: string, prizesOwed: string): never =>
    ({ contest: { id: 42, prizesRedeemed, prizesNotRedeemed, prizesOwed } }) as never

  test('says what is paid of what was won, from the ledger', async () => {
    const response = await stage.get('/contests/1.svg')
    assert.equal(response.headers.get('content-type'), 'image/svg+xml')
    assert.match(await response.text(), />paid 15 \/ 100<\/text>/)
    assert.equal((await stage.get('/contests/99.svg')).status, 404)
  })

  test('cuts off what is less than one, and groups by thousands', () => {
    assert.match(
      badgeOf(contest('1204.900000000', '0.000000000', '1204.900000000')).markup,
      />paid 1,204 \/ 1,204</,
    )
  })

  test('shows every digit where a little is open that cutting would hide', () => {
    const { markup } = badgeOf(contest('1204.100000000', '0.800000000', '1204.900000000'))
    assert.match(markup, />paid 1204\.100000000 \/ 1204\.900000000</)
  })

  test('says so where nothing was won', () => {
    assert.match(badgeOf(contest('0.000000000', '0.000000000', '0.000000000')).markup, />nothing won yet</)
  })
})

suite('what is embedded', () => {
  test('may stand in anybody’s frame, and leads back', async () => {
    const response = await stage.get('/embed/flows?bucket=hour')
    assert.match(response.headers.get('content-security-policy') ?? '', /frame-ancestors \*/)
    const page = await response.text()
    const [, picture = ''] = /<img\s+src="([^"]+)"/.exec(page) ?? []
    assert.equal(
      (await stage.get(picture.replaceAll('&amp;', '&'))).headers.get('content-type'),
      'image/svg+xml',
    )
    const [, back = ''] = /<a\s+href="([^"]+)"/.exec(page) ?? []
    assert.equal((await stage.get(back.replaceAll('&amp;', '&'))).status, 200)
    assert.equal((await stage.get('/embed/flows?bucket=year')).status, 400)
  })
})
