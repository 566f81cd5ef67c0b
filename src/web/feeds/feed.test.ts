import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { EventWire } from '../../protocol/event.ts'
import { DEFAULT_SITE } from '../markup/site.ts'
import { entryTitle } from './feed.ts'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { sendRaw } from '../../../test/stage/raw-request.ts'
import { EXAMINED_MAX } from '../../protocol/parameters.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('the feed', () => {
  test('has contests, corrections and rewards, newest first, each with its own address', async () => {
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

  test('has the events that match its filters, and answers 304 to its ETag', async () => {
    const response = await stage.get('/feed.atom?type=payout')
    assert.match(
      await response.text(),
      /<title>Payout to voters, 15\.00 KOTS: First \(contest 1\)<\/title>[^]*<summary>Event #10, published 2026-\S+Z\. Exact amount: 15\.000000000 KOTS\. Transaction \S+\.<\/summary>/,
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
    test(`and the calendars are refused with a problem document, not a page: ${path}`, async () => {
      const response = await stage.get(path)
      assert.equal(response.status, 400)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
    })
  }

  test('has the same ids for every Host header', async () => {
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

  test('describes each event and its contest in words', async () => {
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

  test('is linked by the pages that show events', async () => {
    for (const path of ['/', '/summary', '/stream', '/events', '/schedule', '/status', '/about']) {
      const page = await (await stage.get(path)).text()
      assert.match(
        page,
        /<link\s+rel="alternate"\s+type="application\/atom\+xml"[^>]*href="\/feed\.atom"/,
        path,
      )
    }
  })

  test('is valid without entries', async () => {
    const feed = await (await stage.get('/feed.atom?type=correction')).text()
    assert.doesNotMatch(feed, /<entry>/)
    assert.match(feed, /<updated>2026-10-01T00:12:00\.000Z<\/updated>/)
    await using empty = await openApiStage({ story: [] })
    const first = await (await empty.get('/feed.atom')).text()
    assert.match(first, /<updated>1970-01-01T00:00:00\.000Z<\/updated>/)
  })

  test('finds its events however long ago they were, and has the date of the newest event if none match', async () => {
    await using own = await openApiStage({ apartMs: 1 })
    own.trade(EXAMINED_MAX)
    const feed = await (await own.get('/feed.atom')).text()
    assert.deepEqual(
      [...feed.matchAll(/<link[^>]*\/events\/(\d+)"/g)].map(([, seq]) => Number(seq)),
      [13, 12, 7, 3, 2],
    )
    assert.match(feed, /<subtitle>The newest 50 events\. /)
    const none = await (await own.get('/feed.atom?type=correction')).text()
    const { asOf } = (await (await own.get('/api/v1/summary')).json()) as { asOf: { at: string } }
    assert.ok(none.includes(`<updated>${asOf.at}</updated>`), none)
  })

  test('with nonzero says how many events it looks at', async () => {
    const feed = await (await stage.get('/feed.atom?nonzero=1')).text()
    assert.match(feed, /<subtitle>The newest 50 events with an amount, among 20000 of the filter\. /)
  })
})

const titleOf = (event: Partial<EventWire>): string =>
  entryTitle(
    {
      seq: 1,
      at: '2026-10-01T00:00:00.000Z',
      atMs: 0,
      contestId: null,
      kots: null,
      tx: null,
      ...event,
    } as EventWire,
    (id) => ({ name: `Contest ${id}`, isCancelled: id === 13 }),
    DEFAULT_SITE,
  )

suite('the title of a feed entry', () => {
  const told: readonly (readonly [title: string, event: Partial<EventWire>])[] = [
    ['Contest 93 closed', { type: 'contest', kind: 'closed', contestId: 93 }],
    ['Contest 93 is settled', { type: 'contest', kind: 'paid', contestId: 93 }],
    ['Contest 13 is settled: it was cancelled', { type: 'contest', kind: 'paid', contestId: 13 }],
    ['Contest 13 closed', { type: 'contest', kind: 'closed', contestId: 13 }],
    ['5,719 KOTS added to the loyalty fund', { type: 'loyalty', kind: 'accrual', kots: '5719.046097795' }],
    ['The loyalty reward was planned', { type: 'loyalty', kind: 'scheduled' }],
    [
      'Payout to voters, 15.25 KOTS: Contest 9',
      { type: 'payout', kind: 'voter_share', contestId: 9, kots: '15.250000001' },
    ],
    ['Correction of a burn, -1,204 KOTS', { type: 'correction', kind: 'burn', kots: '-1204.000000001' }],
  ]
  for (const [title, event] of told) test(title, () => assert.equal(titleOf(event), title))
})
