import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage } from '../../../test/stage/api-stage.ts'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { sendRaw } from '../../../test/stage/raw-request.ts'
import { PAGE_SCAN_MAX } from '../../protocol/parameters.ts'
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
      [13, 12, 7, 3, 2].map((seq) => `tag:daybook.test,2026:/api/${stage.reader.identity.id}/events/${seq}`),
    )
    assert.match(feed, new RegExp(`<link[^>]* href="http://127\\.0\\.0\\.1:${stage.port}/events/13" />`))
    const [newest] = [...feed.matchAll(/<updated>([^<]*)<\/updated>/g)].map(([, at]) => at)
    assert.equal(newest, '2026-10-01T00:12:00.000Z')
  })

  test('holds what is asked for, and is not sent twice', async () => {
    const response = await stage.get('/feed.atom?type=payout')
    assert.match(
      await response.text(),
      /<title>Payout as voter_share, 15\.000000000 KOTS: First \(contest 1\)<\/title>/,
    )
    const again = await stage.get('/feed.atom?type=payout', {
      'If-None-Match': response.headers.get('etag') ?? '',
    })
    assert.equal(again.status, 304)
    assert.equal((await stage.get('/feed.atom?type=news')).status, 400)
  })

  for (const path of [
    '/feed.atom?type=news',
    '/feed.atom?x=1',
    '/schedule.ics?x=1',
    '/payouts.ics?contestId=x',
  ]) {
    test(`and the calendars are refused to a program, not with a page: ${path}`, async () => {
      const response = await stage.get(path)
      assert.equal(response.status, 400)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
    })
  }

  test('is the same feed with the same entries by whatever name the service is asked', async () => {
    const bytes = (host: string): string =>
      `GET /feed.atom?type=payout HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const feeds = await Promise.all(
      ['data.example.org', '[::1]:8080', 'a"b'].map(
        async (host) => (await sendRaw(stage.port, bytes(host))).text,
      ),
    )
    for (const feed of feeds) {
      const { id } = stage.reader.identity
      assert.deepEqual(
        [...feed.matchAll(/<id>([^<]*)<\/id>/g)].map(([, one]) => one),
        ['/feed.atom?type=payout', '/events/10'].map((path) => `tag:daybook.test,2026:/api/${id}${path}`),
      )
    }
    for (const feed of feeds) {
      assert.match(feed, new RegExp(`href="http://127\\.0\\.0\\.1:${stage.port}/events/10"`))
    }
  })

  test('says in words what happened, and of which contest', async () => {
    const feed = await (await stage.get('/feed.atom')).text()
    assert.deepEqual(
      [...feed.matchAll(/<entry>\s*<title>([^<]*)</g)].map(([, title]) => title),
      [
        'The loyalty reward was planned',
        'Contest 2 was planned',
        'First (contest 1) closed',
        'First (contest 1) opened',
        'First (contest 1) was planned',
      ],
    )
  })

  test('is named by the pages whose news it has', async () => {
    for (const path of ['/', '/summary', '/stream', '/events', '/schedule', '/status', '/about']) {
      const page = await (await stage.get(path)).text()
      assert.match(
        page,
        /<link\s+rel="alternate"\s+type="application\/atom\+xml"[^>]*href="\/feed\.atom"/,
        path,
      )
    }
  })

  test('is a feed without entries too', async () => {
    const feed = await (await stage.get('/feed.atom?type=correction')).text()
    assert.doesNotMatch(feed, /<entry>/)
    assert.match(feed, /<updated>2026-10-01T00:12:00\.000Z<\/updated>/)
    await using empty = await openApiStage({ story: [] })
    const first = await (await empty.get('/feed.atom')).text()
    assert.match(first, /<updated>1970-01-01T00:00:00\.000Z<\/updated>/)
  })

  test('says how far back it looks, and is of the newest event where it found none there', async () => {
    await using own = await openApiStage({ apartMs: 1 })
    assert.match(await (await own.get('/feed.atom')).text(), /among the last 20000 events of the log\./)
    own.trade(PAGE_SCAN_MAX)
    const feed = await (await own.get('/feed.atom')).text()
    assert.doesNotMatch(feed, /<entry>/)
    const { asOf } = (await (await own.get('/api/v1/summary')).json()) as { asOf: { at: string } }
    assert.ok(feed.includes(`<updated>${asOf.at}</updated>`), feed)
    assert.match(feed, /among the last 20000 events of the log\./)
  })
})

suite('a badge', () => {
  const contest = (prizesRedeemed: string, prizesNotRedeemed: string, prizesOwed: string): never =>
    ({
      contest: { id: 42, status: 'paying', prizesRedeemed, prizesNotRedeemed, prizesOwed },
      pool: { out: {} },
    }) as never
  const unwon = (status: string, out: Readonly<Record<string, string>>): string => {
    const nothing = '0.000000000'
    const figures = { prizesRedeemed: nothing, prizesNotRedeemed: nothing, prizesOwed: nothing }
    return badgeOf({ contest: { id: 42, status, ...figures }, pool: { out } } as never, REAL).markup
  }
  const REAL = { token: 'KOTS', simulated: false }

  test('says what is paid of what was won, from the ledger', async () => {
    const response = await stage.get('/contests/1.svg')
    assert.equal(response.headers.get('content-type'), 'image/svg+xml')
    assert.match(await response.text(), />simulated contest 1<\/text>[^]*>paid 15 \/ 100 KOTS<\/text>/)
    assert.equal((await stage.get('/contests/99.svg')).status, 404)
  })

  test('cuts off what is less than one, and groups by thousands', () => {
    assert.match(
      badgeOf(contest('1204.900000000', '0.000000000', '1204.900000000'), REAL).markup,
      />contest 42<[^]*>paid 1,204 \/ 1,204 KOTS</,
    )
  })

  test('shows every digit where a little is open that cutting would hide', () => {
    const { markup } = badgeOf(contest('1204.100000000', '0.800000000', '1204.900000000'), REAL)
    assert.match(markup, />paid 1204\.100000000 \/ 1204\.900000000 KOTS</)
  })

  test('says so where nothing was won', () => {
    assert.match(unwon('running', {}), />nothing won yet</)
    assert.match(unwon('paid', {}), />nothing was won</)
    assert.match(unwon('paid', { refund: '8408.364540235' }), />stakes given back</)
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
  })

  test('has the colours that are asked for', async () => {
    const page = await (await stage.get('/embed/flows?theme=dark')).text()
    assert.match(page, /<html lang="en"\s+data-theme="dark">/)
    assert.match(page, /<img\s+src="\/flows\.svg\?[^"]*theme=dark"/)
    assert.match(await (await stage.get('/embed/flows')).text(), /<html lang="en"\s*>/)
    assert.equal((await stage.get('/embed/flows?theme=red')).status, 400)
  })

  /** A refusal in the frame of somebody else's page: for people, small, and leading back. */
  async function assertFramed(response: Response, status: number): Promise<string> {
    const page = await response.text()
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.match(response.headers.get('content-security-policy') ?? '', /frame-ancestors \*/)
    assert.match(page, /<body class="embed">/)
    assert.match(page, /<a href="\/flows" target="_blank"/)
    assert.doesNotMatch(page, /<nav|<form|<script/)
    assert.ok(page.length < 2_000, `${page.length} characters`)
    return page
  }

  const refused: readonly (readonly [path: string, status: number, says: RegExp])[] = [
    ['/embed/flows?bucket=year', 400, /`bucket` must be one of/],
    ['/embed/flows?bucket=day&bucket=hour', 400, /given more than once/],
    ['/embed/flows?from=2020-01-01&to=2026-10-01&bucket=minute', 400, /1500|1,500/],
    [`/embed/flows?from=${'x'.repeat(4_500)}`, 414, /at most 4096 characters/],
    ['/embed/nothing', 404, /nothing at this address/],
  ]
  for (const [path, status, says] of refused) {
    test(`is refused within its frame: ${path.slice(0, 60)}`, async () => {
      assert.match(await assertFramed(await stage.get(path), status), says)
    })
  }

  test('is refused within its frame while the log is not ready, and tries again by itself', async () => {
    stage.setUnready({ code: 'not-ready', detail: 'The log is being read.', retryAfterSeconds: 7 })
    const response = await stage.get('/embed/flows')
    stage.setUnready(undefined)
    assert.equal(response.headers.get('retry-after'), '7')
    assert.match(await assertFramed(response, 503), /<meta http-equiv="refresh" content="7" \/>/)
  })

  test('is refused within its frame to whoever may ask no more', async () => {
    const policy = { name: 'pages', requests: 1, windowMs: 60_000 }
    const decide = () => ({ allowed: false, remaining: 0, resetSeconds: 9, retryAfterSeconds: 9 })
    const counter = { policy, decide }
    await using limited = await openApiStage({ counters: { api: counter, tiles: counter, pages: counter } })
    const response = await limited.get('/embed/flows?bucket=hour')
    assert.equal(response.headers.get('retry-after'), '9')
    assert.match(await assertFramed(response, 429), /1 requests are allowed in any 60 seconds/)
    const feed = await limited.get('/feed.atom')
    assert.equal(feed.headers.get('content-type'), 'application/problem+json')
  })
})
