import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import { pagePath } from '../../src/web/frame/page-routes.ts'
import { PAGES } from '../../src/web/pages/pages.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { plan } from '../story/api-story.ts'
import { textOf as documentText } from '../stage/document.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const textOf = async (path: string): Promise<string> => (await stage.get(path)).text()

const PICTURES = [
  '/summary.svg',
  '/flows.svg',
  '/funds.svg',
  '/patterns.svg',
  '/payouts.svg',
  '/schedule.svg',
  '/loyalty/runs.svg',
  '/archive.svg',
  '/contests/1/ledger.svg',
  '/contests/2/ledger.svg',
]

suite('a picture', () => {
  test('exists for every page with a chart, and docs/pages.md names them all', () => {
    const pictured = PAGES.filter((page) => page.svg !== undefined && pagePath(page) !== '/').map(pagePath)
    const shown = new Set(PICTURES.map((path) => path.replace('.svg', '').replace(/\/\d+\//, '/{id}/')))
    assert.deepEqual(new Set(pictured), shown)
    const [, row = ''] = /^\| `\.svg` \| (.*) \|$/m.exec(documentText('docs/pages.md')) ?? []
    assert.deepEqual(new Set([...row.matchAll(/`(\/\S*)`/g)].map(([, path]) => path)), shown)
  })

  for (const path of PICTURES) {
    test(`${path} has its own type, policy, size and colours`, async () => {
      const response = await stage.get(path)
      const svg = await response.text()
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', /^image\/svg\+xml/)
      assert.equal(
        response.headers.get('content-security-policy'),
        "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      )
      assert.equal(response.headers.get('access-control-allow-origin'), '*')
      assert.equal(response.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
      assert.match(svg, /^<svg\s+xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
      assert.match(svg, /<title id="title">[^<]+<\/title>\s*<desc id="desc">[^<]+<\/desc>/)
      assert.match(svg, /simulated platform, no real money · Informational only\./)
      assert.doesNotMatch(svg, /NaN|undefined|<script|href=/)
      const etag = response.headers.get('etag') ?? ''
      assert.equal((await stage.get(path, { 'If-None-Match': etag })).status, 304)
    })

    test(`${path} is light, dark or automatic, and no other theme`, async () => {
      assert.doesNotMatch(await textOf(`${path}?theme=light`), /#0e1218/)
      assert.doesNotMatch(await textOf(`${path}?theme=dark`), /\.bg\{fill:#fff\}/)
      assert.equal(await textOf(`${path}?theme=auto`), await textOf(path))
      const refused = await stage.get(`${path}?theme=pink`)
      assert.equal(refused.status, 400)
      assert.match(await refused.text(), /`theme` must be one of light, dark, auto\./)
    })
  }

  test('of a past range is immutable', async () => {
    const response = await stage.get('/flows.svg?from=2026-09-01&to=2026-09-30&theme=dark')
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  })

  test('of the summary covers the days up to the requested moment, and is immutable with it', async () => {
    const response = await stage.get('/summary.svg?at=2026-10-01T00:05Z&theme=light')
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.match(await response.text(), / 2026 00:00:00 UTC to 1 Oct 2026 00:00:00 UTC; state at/)
    assert.match(await textOf('/summary.svg?at=2026-09-01'), /1 Sep 2026 00:00:00 UTC; no event yet/)
  })

  test('of a ledger has a step for each payout, and the owed total', async () => {
    const svg = await textOf('/contests/1/ledger.svg')
    assert.match(svg, /towards the 100\.000000000 KOTS that were won/)
    assert.equal(svg.match(/<path class="s[12]"/g)?.length, 2)
    const open = await textOf('/contests/2/ledger.svg')
    assert.match(open, /<desc[^>]*>Nothing is paid yet\.</)
    assert.match(open, />Nothing is paid yet; state at/)
    assert.doesNotMatch(open, /<path/)
    assert.match(await textOf('/contests/1/ledger.svg?after=10'), /Only part of the payouts/)
  })

  test('explains what is pale, if anything is', async () => {
    for (const path of ['/flows.svg', '/funds.svg', '/summary.svg']) {
      assert.match(await textOf(path), />pale: not over yet</, path)
    }
    const settled = 'from=2026-10-01T00:00Z&to=2026-10-01T00:05Z&bucket=minute'
    for (const path of [`/flows.svg?${settled}`, `/funds.svg?${settled}`]) {
      assert.doesNotMatch(await textOf(path), />pale/, path)
    }
  })

  test('of an empty log has a note only', async () => {
    await using empty = await openApiStage({ story: [] })
    for (const [path, said] of [
      ['/summary.svg', /no event yet/],
      ['/schedule.svg', /nothing is planned; no event yet/],
      ['/archive.svg', /no month yet/],
    ] as const) {
      const response = await empty.get(path)
      assert.equal(response.status, 200)
      const svg = await response.text()
      assert.match(svg, said)
      assert.doesNotMatch(svg, /NaN|Infinity/)
    }
  })

  test('has a theme parameter, unlike the page and its JSON', async () => {
    assert.equal((await stage.get('/flows?theme=dark')).status, 400)
    assert.equal((await stage.get('/flows.csv?theme=dark')).status, 400)
  })
})

suite('an XML document', () => {
  test('has no character that XML forbids, for any title', async () => {
    await using odd = await openApiStage({
      story: [plan(1, 'Round\uFFFE one\uFFFF', HOUR_MS), { type: 'contest', kind: 'opened', contestId: 1 }],
    })
    for (const path of ['/schedule.svg', '/contests/1/ledger.svg', '/feed.atom']) {
      const text = await (await odd.get(path)).text()
      assert.doesNotMatch(text, /[\uFFFE\uFFFF]/, path)
      assert.match(text, /Round\uFFFD one\uFFFD/, path)
    }
  })
})
