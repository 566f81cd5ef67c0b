import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('an embedded chart', () => {
  test('may be framed by any site, and links back', async () => {
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

  test('of a settled range is revalidated, as a page is, and its picture never changes', async () => {
    const range = 'from=2026-07-01T00:00:00Z&to=2026-07-01T01:00:00Z&bucket=minute'
    const keptOf = async (path: string): Promise<string | null> =>
      (await stage.get(`${path}?${range}`)).headers.get('cache-control')
    assert.equal(await keptOf('/flows.svg'), 'public, max-age=31536000, immutable')
    for (const path of ['/embed/flows', '/flows.metadata.json']) {
      assert.equal(await keptOf(path), 'public, max-age=0, must-revalidate', path)
    }
  })

  test('has the theme of its query', async () => {
    const page = await (await stage.get('/embed/flows?theme=dark')).text()
    assert.match(page, /<html lang="en"\s+data-theme="dark">/)
    assert.match(page, /<img\s+src="\/flows\.svg\?[^"]*theme=dark"/)
    assert.match(await (await stage.get('/embed/flows')).text(), /<html lang="en"\s*>/)
    assert.equal((await stage.get('/embed/flows?theme=red')).status, 400)
  })

  /** Asserts that a refusal is a small page for a frame, with a link back. */
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
    [`/embed/flows?from=${'x'.repeat(4_500)}`, 414, /more than 4096 characters/],
    ['/embed/nothing', 404, /nothing at this address/],
  ]
  for (const [path, status, says] of refused) {
    test(`is refused within its frame: ${path.slice(0, 60)}`, async () => {
      assert.match(await assertFramed(await stage.get(path), status), says)
    })
  }

  test('is refused within its frame while the log is not ready, and reloads by itself', async () => {
    stage.setUnready({ code: 'not-ready', detail: 'The log is being read.', retryAfterSeconds: 7 })
    const response = await stage.get('/embed/flows')
    stage.setUnready(undefined)
    assert.equal(response.headers.get('retry-after'), '7')
    assert.match(await assertFramed(response, 503), /<meta http-equiv="refresh" content="7" \/>/)
  })

  test('is refused within its frame when the rate limit is reached', async () => {
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
