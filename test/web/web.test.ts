import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ENDPOINT_PATHS } from '../../src/protocol/paths.ts'
import { PAGE_POLICY } from '../../src/web/frame/page-frame.ts'
import { pagePath } from '../../src/web/frame/page-routes.ts'
import { PAGES } from '../../src/web/pages/pages.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { assertParity, sourcesOf } from './parity/parity.ts'
import { ADDRESSES } from './parity/web-addresses.ts'

const KIB = 1024
/** Bytes of a page's scripts, and of those of a page whose charts a reader points at, compressed. */
const SCRIPT_BYTES_MAX = 6 * KIB
const CHART_SCRIPT_BYTES_MAX = 8.5 * KIB
/** Pages without an endpoint, which have no other formats. */
const ALONE = new Set(PAGES.filter(({ endpoint }) => endpoint === null).map(pagePath))
const LICENCE = 'https://licence.example/data'

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ site: { name: 'Book <of> "tests"', licence: LICENCE } })
})
after(() => stage[Symbol.asyncDispose]())

const zipped = (text: string | Uint8Array): number => gzipSync(text, { level: 9 }).length

suite('the pages', () => {
  test('are all in the list of addresses', () => {
    for (const path of PAGES.map(pagePath)) {
      const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`)
      assert.ok(
        ADDRESSES.some((address) => form.test(address)),
        path,
      )
    }
  })

  test('have the path of their endpoint without /api/v1', () => {
    for (const page of PAGES) {
      if (page.endpoint === null || page.path !== undefined) continue
      assert.equal(`/api/v1${pagePath(page)}`, ENDPOINT_PATHS[page.endpoint])
    }
  })

  for (const address of ADDRESSES) {
    test(`${address} shows nothing that its JSON lacks`, async () => {
      const page = await (await stage.get(address)).text()
      const sources = sourcesOf(page)
      const answers = await Promise.all(sources.map(async (source) => (await stage.get(source)).text()))
      assertParity(page, answers)
    })

    test(`${address} is a complete page with a strict policy`, async () => {
      const response = await stage.get(address)
      const page = await response.text()
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(response.headers.get('content-security-policy'), PAGE_POLICY)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
      assert.match(response.headers.get('link') ?? '', /rel="license"/)
      assert.match(page, /^<!doctype html>\n<html lang="en">/)
      assert.match(page, /<title>[^<]+ · Book &lt;of&gt; &quot;tests&quot;<\/title>/)
      assert.match(page, /<h1[^>]*>[^]*?\S[^]*?<\/h1>/)
      assert.match(page, /Informational only\. Not advice, a forecast or an offer\./)
      assert.match(page, /simulated platform/)
      assert.doesNotMatch(page, /\sstyle=|<style|\son\w+=|javascript:/)
      assert.ok(zipped(page) <= 30 * KIB, `${zipped(page)} bytes`)
    })

    test(`${address} must be revalidated, and answers 304 to its ETag`, async () => {
      const page = await stage.get(address)
      assert.equal(page.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
      const etag = page.headers.get('etag') ?? ''
      const again = await stage.get(address, { 'If-None-Match': etag })
      assert.equal(again.status, 304)
      const head = await stage.get(address, {}, 'HEAD')
      assert.equal(head.headers.get('etag'), etag)
      assert.equal(await head.text(), '')
    })

    test(`${address} links its JSON, CSV and metadata, which exist`, async () => {
      const [from = '', query] = address.split('?')
      if (ALONE.has(from)) return assert.equal((await stage.get(`${from}.json`)).status, 404)
      // The start page is the summary's page and has its formats.
      const path = from === '/' ? '/summary' : from
      const other = (suffix: string): Promise<Response> =>
        stage.get(`${path}${suffix}${query === undefined ? '' : `?${query}`}`)
      const json = await other('.json')
      assert.ok(json.url.includes('/api/v1/'))
      assert.equal(json.status, 200)
      const about = (await (await other('.metadata.json')).json()) as { rows: number | null; licence: string }
      assert.equal(about.licence, LICENCE)
      const csv = await other('.csv')
      if (about.rows === null) assert.equal(csv.status, 404)
      else assert.equal((await csv.text()).trimEnd().split('\r\n').length, about.rows + 1)
    })
  }

  test('show the first rows of a list, and read no more than they may show', async () => {
    const response = await stage.get('/events?limit=10000&type=play')
    assert.equal(new URL(response.url).search, '?type=play&limit=1000')
    assert.equal((await stage.get('/events.csv?limit=10000')).status, 200)
  })

  test('of the stream with `after` redirect to the events', async () => {
    const response = await stage.get('/stream?after=3&type=play')
    const asked = new URL(response.url)
    assert.equal(asked.pathname + asked.search, '/events?type=play&after=3')
  })

  test('have the public URL with their own path and query as canonical address', async () => {
    const url = 'https://book.example'
    await using other = await openApiStage({ site: { url } })
    for (const [address, canonical] of [
      ['/', '/'],
      ['/find?q=secret', '/find'],
      ['/events/2', '/events/2'],
      ['/flows', '/flows'],
      [
        '/flows?bucket=day&from=2026-10-01&to=2026-10-02',
        '/flows?from=2026-10-01&amp;to=2026-10-02&amp;bucket=day',
      ],
    ] as const) {
      const page = await (await other.get(address)).text()
      assert.equal(/<link\s+rel="canonical"\s+href="([^"]*)"/.exec(page)?.[1], url + canonical, address)
      assert.equal(/<meta property="og:url" content="([^"]*)"/.exec(page)?.[1], url + canonical, address)
    }
    for (const address of ['/flows?x=1', '/nothing'])
      assert.doesNotMatch(await (await other.get(address)).text(), /canonical|og:url/, address)
  })

  test('link the JSON of an error only if the API has the same error', async () => {
    for (const [path, twin] of [
      ['/about?x=1', null],
      ['/?x=1', null],
      ['/flows?x=1', '/api/v1/flows?x=1'],
      ['/events/first', '/api/v1/events/first'],
    ] as const) {
      const page = await (await stage.get(path)).text()
      const href = /<a class="button" href="([^"]*)">JSON of this error/.exec(page)?.[1] ?? null
      assert.equal(href, twin, path)
      if (twin !== null) assert.ok((await stage.get(twin)).status >= 400)
    }
  })

  test('change with the log, and are then sent again', async () => {
    await using other = await openApiStage()
    const first = await other.get('/flows')
    await first.text()
    other.trade(1)
    const etag = first.headers.get('etag') ?? ''
    assert.equal((await other.get('/flows', { 'If-None-Match': etag })).status, 200)
  })

  test('show nothing of a log that is not ready', async () => {
    stage.setUnready({ code: 'not-ready', detail: 'The log is being read.', retryAfterSeconds: 7 })
    const response = await stage.get('/flows')
    stage.setUnready(undefined)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '7')
    assert.match(await response.text(), /<meta http-equiv="refresh" content="7" \/>/)
  })
})

suite('a form', () => {
  const sent: readonly (readonly [sent: string, asked: string])[] = [
    ['/flows?from=2026-10-01T00%3A00&to=&bucket=hour', '/flows?from=2026-10-01T00%3A00Z&bucket=hour'],
    ['/flows?from=&to=&bucket=day', '/flows?bucket=day'],
    ['/flows?from=', '/flows'],
  ]
  for (const [path, asked] of sent) {
    test(`that sends ${path} is redirected to ${asked}`, async () => {
      const response = await fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), asked)
      assert.equal((await stage.get(asked)).status, 200)
    })
  }

  test('with a value that is refused is not redirected, so that nothing of it is repeated', async () => {
    const path = '/flows?from=&bucket=words-of-mine'
    const response = await fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })
    assert.equal(response.status, 400)
    assert.equal(response.headers.get('location'), null)
  })

  test('that repeats a parameter is refused without a redirect', async () => {
    const path = '/flows?bucket=day&bucket=hour'
    const response = await fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })
    assert.equal(response.status, 400)
    assert.match(await response.text(), /<code>bucket<\/code> is given more than once/)
  })
})

suite('the files of pages', () => {
  test('are few, small and immutable, and exist under an earlier name too', async () => {
    for (const address of ADDRESSES) {
      const page = await (await stage.get(address)).text()
      const files = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
      assert.equal(files.length, 5, 'a font, two style sheets, the theme and one island')
      let scriptBytes = 0
      for (const path of files) {
        const response = await stage.get(path)
        assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
        const body = await response.bytes()
        const bytes = zipped(body)
        if (path.endsWith('.woff2')) {
          assert.equal(response.headers.get('content-type'), 'font/woff2')
          assert.equal(response.headers.get('content-encoding'), null)
          assert.ok(body.length <= 30 * KIB, `${path} has ${body.length} bytes`)
        } else if (path.endsWith('.css')) {
          assert.ok(bytes <= (path.includes('print') ? 1 : 8) * KIB, `${path} has ${bytes} bytes`)
        } else scriptBytes += bytes
        const earlier = await stage.get(path.replace(/\.[0-9a-f]+\./, '.0123456789.'))
        assert.equal(earlier.status, 200)
        assert.equal(earlier.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
      }
      const hasChart = files.some((path) => /^\/assets\/(?:chart|patterns)\./.test(path))
      const most = hasChart ? CHART_SCRIPT_BYTES_MAX : SCRIPT_BYTES_MAX
      assert.ok(scriptBytes <= most, `${address} has ${scriptBytes} bytes of script`)
    }
  })

  test('do not include other files', async () => {
    assert.equal((await stage.get('/assets/routes.ts')).status, 404)
    assert.equal((await stage.get('/assets/nothing.0123456789.js')).status, 404)
  })
})
