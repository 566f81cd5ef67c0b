import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { plain } from './parity/page-tree.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const pageOf = async (path: string): Promise<string> => (await stage.get(path)).text()
const embeddedOn = (page: string): readonly string[] =>
  [...page.matchAll(/<code data-embed>([^]*?)<\/code>/g)].map(([, code = '']) => plain(code))

suite('an embed code', () => {
  for (const path of [
    '/',
    '/summary',
    '/summary?at=2026-10-01T00:05Z',
    '/flows',
    '/funds',
    '/patterns',
    '/payouts',
    '/schedule',
    '/archive',
    '/loyalty/runs',
    '/contests/1/ledger',
  ]) {
    test(`of ${path} has the full URL of an existing resource`, async () => {
      const offered = embeddedOn(await pageOf(path))
      assert.ok(offered.length > 0)
      for (const code of offered) {
        const address = plain(/ src="([^"]+)"/.exec(code)?.[1] ?? '')
        assert.ok(address.startsWith(`http://127.0.0.1:${stage.port}/`), code)
        assert.equal((await fetch(address)).status, 200, address)
      }
    })
  }

  for (const path of ['/flows', '/funds', '/patterns']) {
    test(`of ${path} keeps the shown range`, async () => {
      for (const code of embeddedOn(await pageOf(path))) assert.match(code, /[?&;]from=.*[?&;]to=/)
    })
  }

  test('of the summary stays up to date, unless it is of a past moment', async () => {
    for (const path of ['/', '/summary']) assert.match(embeddedOn(await pageOf(path)).join(), /summary\.svg"/)
    const past = embeddedOn(await pageOf('/summary?at=2026-10-01T00:05Z')).join()
    assert.match(past, /summary\.svg\?at=2026-10-01T00:05Z"/)
  })

  test('exists for the frame of flows, and for the badge of a contest', async () => {
    assert.match(embeddedOn(await pageOf('/flows')).join('\n'), /<iframe src="[^"]*\/embed\/flows\?/)
    assert.match(
      embeddedOn(await pageOf('/contests/1/ledger')).join('\n'),
      /<a href="[^"]*\/contests\/1\/ledger"><img src="[^"]*\/contests\/1\.svg"/,
    )
  })
})

suite('the metadata of an export', () => {
  for (const path of ['/flows', '/funds', '/patterns', '/summary', '/events']) {
    test(`of ${path} names the page, its JSON and its CSV`, async () => {
      const about = (await (await stage.get(`${path}.metadata.json`)).json()) as Record<string, string>
      const [, asked] = (about['page'] ?? '').split('?')
      const query = asked === undefined ? '' : `?${asked}`
      assert.equal(about['api'], `/api/v1${path}${query}`)
      assert.equal(about['csv'], `${path}.csv${query}`)
      for (const address of [about['page'], about['api'], about['csv']]) {
        assert.equal((await stage.get(address ?? '')).status, 200)
      }
    })
  }

  const names: readonly (readonly [asked: string, name: string])[] = [
    ['/events.csv?type=payout', 'daybook-events-type-payout-1-13.csv'],
    ['/events.csv?type=play&contestId=1', 'daybook-events-type-play-contestId-1-1-13.csv'],
    ['/events.csv?limit=3', 'daybook-events-1-3-part.csv'],
    ['/events.csv?after=13', 'daybook-events-none.csv'],
    ['/contests/1/ledger.csv', 'daybook-contests-1-ledger-event-13.csv'],
    ['/contests.csv?status=running,paying', 'daybook-contests-status-running-paying-event-13.csv'],
  ]
  for (const [asked, name] of names) {
    test(`of ${asked} has the file name ${name}`, async () => {
      const { headers } = await stage.get(asked)
      assert.equal(headers.get('content-disposition'), `attachment; filename="${name}"`)
    })
  }

  test('counts no rows for an empty export', async () => {
    assert.match(await pageOf('/events?type=expiry'), />CSV \(no rows\)</)
  })
})

suite('the JSON shown on a page', () => {
  test('is the answer of its address, pretty-printed', async () => {
    const page = await pageOf('/schedule')
    const shown = /aria-label="The JSON of this view"\s*><code>([^]*?)<\/code>/.exec(page)?.[1] ?? ''
    const answer: unknown = await (await stage.get('/api/v1/schedule')).json()
    assert.deepEqual(JSON.parse(plain(shown)), answer)
    assert.ok(shown.split('\n').length > 10)
  })
})
