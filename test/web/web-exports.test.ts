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
  test('is shown when the answer has at most 32 KiB as the API sends it', async () => {
    const path = '/flows?bucket=hour&from=2026-09-28T12:00Z&to=2026-10-02'
    const answer = await pageOf(`/api/v1${path}`)
    const length = Buffer.byteLength(answer)
    const formatted = Buffer.byteLength(JSON.stringify(JSON.parse(answer), null, 2))
    assert.ok(length < 32_768 && formatted > 32_768, `${length} bytes, ${formatted} formatted`)
    assert.match(await pageOf(path), /The JSON of this view/)
    assert.match(
      await pageOf('/flows?bucket=hour&from=2026-09-01&to=2026-10-01'),
      /too long to be shown here/,
    )
  })
})
