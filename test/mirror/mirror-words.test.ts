import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Finality, Mirror, Status } from '../../src/protocol/endpoints/description-endpoints.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { sendRaw } from '../stage/raw-request.ts'

const OF = 'https://data.example.org'
const FOLLOWING: Mirror = {
  of: OF,
  state: 'following',
  reason: null,
  originSeq: 13,
  behindEvents: 0,
  behindMs: 0,
  provedAt: '2026-10-02T23:59:30.000Z',
  provedAtMs: Date.UTC(2026, 9, 2, 23, 59, 30),
  contactAt: '2026-10-02T23:59:30.000Z',
  contactAtMs: Date.UTC(2026, 9, 2, 23, 59, 30),
  upstream: [],
  keys: ['daybook.test/api+00000000+AAAA'],
  keysFrom: 'first_use',
  heldAt: null,
  heldAtMs: null,
  contradiction: null,
}
const STOPPED: Mirror = { ...FOLLOWING, state: 'stopped', contradiction: 'two trees of 12 events differ' }
const UPSTREAM: Mirror['upstream'][number] = {
  of: 'https://first.example.net',
  state: 'following',
  behindMs: 0,
  provedAt: '2026-10-02T22:10:00.000Z',
  provedAtMs: Date.UTC(2026, 9, 2, 22, 10),
}
const PAGES = ['/', '/status', '/events/3', '/contests', '/api', '/nothing', '/events/99']
const waits = (reason: NonNullable<Mirror['reason']>): Mirror => ({ ...FOLLOWING, state: 'waiting', reason })
const lost = (state: 'waiting' | 'stopped'): Mirror => ({
  ...FOLLOWING,
  upstream: [
    { ...UPSTREAM, of: 'https://near.example.net' },
    { ...UPSTREAM, state },
  ],
})
const HELD: Finality = {
  asked: true,
  held: 3,
  oldestAt: '2026-10-01T00:00:00.000Z',
  oldestAtMs: Date.UTC(2026, 9, 1),
  refused: 1,
  failed: 2,
  dropped: 0,
  vouched: 4,
}

/** A stage whose mirror says something else with each call of `say`. */
async function openSayingStage() {
  let version = 1
  let report: Readonly<{ mirror: Mirror; finality: Finality | null }> = { mirror: FOLLOWING, finality: null }
  const stage = await openApiStage({ mirror: () => ({ version, ...report }), streams: true })
  return {
    stage,
    say(mirror: Mirror, finality: Finality | null = null) {
      report = { mirror, finality }
      version += 1
      // A commit ends the stage's cache of answers, which knows no mirror.
      stage.trade(1)
    },
    end: () => stage[Symbol.asyncDispose](),
  }
}

suite('a mirror', () => {
  let saying: Awaited<ReturnType<typeof openSayingStage>>
  let stage: (typeof saying)['stage']
  before(async () => {
    saying = await openSayingStage()
    ;({ stage } = saying)
  })
  after(() => saying.end())

  test('names its origin in a header of every answer', async () => {
    const etag = (await stage.get('/api/v1/summary')).headers.get('etag') ?? ''
    for (const [path, status, headers, method] of [
      ['/api/v1/summary', 200, {}, 'GET'],
      ['/api/v1/summary', 304, { 'If-None-Match': etag }, 'GET'],
      ['/api/v1/summary', 204, {}, 'OPTIONS'],
      ['/api/v1/summary', 405, {}, 'POST'],
      ['/api/v1/nothing', 404, {}, 'GET'],
      ['/api/v1/events?limit=0', 400, {}, 'GET'],
      ['/api/v1/events?after=0&limit=1', 200, {}, 'GET'],
      ['/api/v1/events?after=0&limit=1', 200, {}, 'GET'],
      ['/api/v1/events?format=csv', 200, {}, 'GET'],
      ['/api/v1/archive/2026-10.jsonl.gz', 200, {}, 'GET'],
      ['/api/v1/log/checkpoint', 200, {}, 'GET'],
      ['/api/v1/stream', 200, {}, 'HEAD'],
      ['/', 200, {}, 'GET'],
      ['/summary.png', 200, {}, 'HEAD'],
      ['/live', 200, {}, 'HEAD'],
      ['/nothing', 404, {}, 'GET'],
      ['/llms.txt', 200, {}, 'GET'],
      ['/assets/nothing.js', 404, {}, 'GET'],
    ] as const) {
      const answer = await stage.get(path, headers, method)
      await answer.arrayBuffer()
      assert.equal(answer.status, status, path)
      assert.equal(answer.headers.get('daybook-mirror'), OF, `${method} ${path}`)
    }
    assert.match(
      (await stage.get('/api/v1/status')).headers.get('access-control-expose-headers') ?? '',
      /Daybook-Mirror/,
    )
  })

  test('names its origin also when the request is no HTTP', async () => {
    assert.match(
      (await sendRaw(stage.port, 'nonsense\r\n\r\n')).text,
      new RegExp(`\r\nDaybook-Mirror: ${OF}\r\n`),
    )
  })

  test('has no such header and no `mirror` in /status when it is none', async () => {
    await using alone = await openApiStage()
    const answer = await alone.get('/api/v1/status')
    assert.equal(answer.headers.get('daybook-mirror'), null)
    assert.equal(((await answer.json()) as Status).mirror, null)
    assert.doesNotMatch(await (await alone.get('/')).text(), /is a mirror of/)
  })

  test('says in /status whom it follows, and passes on the origin’s counts of held drafts', async () => {
    saying.say(FOLLOWING, HELD)
    const status = (await (await stage.get('/api/v1/status')).json()) as Status
    assert.deepEqual([status.mirror, status.finality], [FOLLOWING, HELD])
    const page = await (await stage.get('/status')).text()
    assert.match(page, /This mirror/)
    assert.match(page, /word of the origin/)
  })

  test('says on every page what it is, how late it is, and that it has stopped', async () => {
    for (const [mirror, words] of [
      [
        FOLLOWING,
        /This is a mirror of <a href="https:\/\/data\.example\.org">data\.example\.org<\/a>, up to date\./,
      ],
      [{ ...FOLLOWING, behindMs: 1_999 }, /, up to date\./],
      [{ ...FOLLOWING, behindMs: 3_400 }, /, 3 seconds behind\./],
      [{ ...FOLLOWING, behindMs: 47_000 }, /, 40 seconds behind\./],
      [{ ...FOLLOWING, behindMs: 61_000 }, /, 1 minute behind\./],
      [{ ...FOLLOWING, behindMs: 7_300_000 }, /, 2 hours behind\./],
      [{ ...FOLLOWING, upstream: [UPSTREAM] }, /<\/a>, a mirror of first\.example\.net, up to date\./],
      [waits('starting'), /It has just started, .* What is shown is as of <time/s],
      [waits('unreachable'), /Its origin does not answer\. What is shown is as of <time/],
      [waits('unusable'), /The answers of its origin cannot be used now\./],
      [waits('version'), /events that need a newer version of Daybook\./],
      [waits('disk'), /Its disk is full\./],
      [{ ...waits('unreachable'), provedAt: null }, /Its origin does not answer\. *<\/span>/],
      [
        lost('waiting'),
        /near\.example\.net is a mirror too, and cannot follow first\.example\.net\.\s*What is shown is as of/,
      ],
      [lost('stopped'), /and has stopped following first\.example\.net\./],
      [STOPPED, /It has stopped, because its origin contradicts what it signed/],
    ] as const) {
      saying.say(mirror)
      for (const path of mirror === FOLLOWING || mirror === STOPPED ? PAGES : ['/status'])
        assert.match(await (await stage.get(path)).text(), words, path)
    }
  })

  test('shows a moment and its time zone on one line', async () => {
    saying.say(waits('unreachable'))
    const page = await (await stage.get('/')).text()
    assert.match(page, /<p class="strip" role="note">\s*<span>This is a mirror of [^]* UTC<\/time>/)
    const style = await (await stage.get(/href="(\/assets\/[^"]+\.css)"/.exec(page)?.[1] ?? '')).text()
    // The time zone is a span too, within the one that is a block.
    assert.match(style, /\.strip ?> ?span/)
    assert.doesNotMatch(style, /\.strip span/)
  })

  test('says "Up to date" in the heading of /status only when it is', async () => {
    for (const [mirror, heading] of [
      [FOLLOWING, 'Up to date'],
      [waits('starting'), 'Starting'],
      [waits('unreachable'), 'Waiting for its origin'],
      [waits('unusable'), 'Waiting for its origin'],
      [waits('version'), 'Waiting for a newer version'],
      [waits('disk'), 'Waiting for room'],
      [lost('waiting'), 'The origin is behind'],
      [STOPPED, 'Stopped'],
    ] as const) {
      saying.say(mirror)
      const page = await (await stage.get('/status')).text()
      assert.equal(/<h1[^>]*>([^<]*)<\/h1>/.exec(page)?.[1], heading)
      assert.doesNotMatch(page, /as soon as it is acknowledged/)
    }
  })

  test('says in the heading of /status why it has stopped', async () => {
    saying.say(STOPPED)
    assert.match(
      await (await stage.get('/status')).text(),
      /<h1[^>]*>Stopped<\/h1>[^]*two trees of 12 events differ/,
    )
  })

  test('leads search engines to its origin, and other readers to itself', async () => {
    const site = { url: 'https://mirror.example.net' }
    const mirror = () => ({ version: 1, mirror: FOLLOWING, finality: null })
    await using public_ = await openApiStage({ mirror, site })
    const text = async (path: string): Promise<string> => (await public_.get(path)).text()
    assert.match(
      await text('/events/3'),
      /<link rel="canonical" href="https:\/\/data\.example\.org\/events\/3"/,
    )
    assert.match(await text('/sitemap.xml'), /<loc>https:\/\/data\.example\.org\/contests<\/loc>/)
    assert.match(await text('/robots.txt'), /Sitemap: https:\/\/data\.example\.org\/sitemap\.xml/)
    assert.match(await text('/feed.atom'), /https:\/\/mirror\.example\.net\/events\/3/)
    assert.match(await text('/datapackage.json'), /https:\/\/mirror\.example\.net\//)
    assert.match(await text('/api/v1/openapi.json'), /"servers":\[\{"url":"\/"/)
  })
})
