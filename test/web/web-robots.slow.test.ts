import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import { FRICTIONLESS_PATH } from '../../src/protocol/paths.ts'
import { parsed } from '../../src/protocol/problem.ts'
import { pagePath } from '../../src/web/frame/page-routes.ts'
import { PAGES } from '../../src/web/pages/pages.ts'
import type { View } from '../../src/web/frame/page.ts'
import { sitemapEntries } from '../../src/web/feeds/crawlers.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { LAUNCH, plan } from '../story/api-story.ts'
import { textOf as documentText } from '../stage/document.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { elementsIn, parseMarkup, textIn } from './parity/page-tree.ts'
import { sendRaw } from '../stage/raw-request.ts'
import { ADDRESSES } from './parity/web-addresses.ts'

let stage: ApiStage
let base = ''
before(async () => {
  stage = await openApiStage()
  base = `http://127.0.0.1:${stage.port}`
})
after(() => stage[Symbol.asyncDispose]())

const textOf = async (path: string, from = stage): Promise<string> => (await from.get(path)).text()

type SitemapUrl = Readonly<{ loc: string; lastmod: string | null }>

/** Entries of a sitemap, which must be valid XML. */
function namedIn(sitemap: string): readonly SitemapUrl[] {
  const [declaration = '', ...rest] = sitemap.split('\n')
  assert.equal(declaration, '<?xml version="1.0" encoding="UTF-8"?>')
  const [, set] = elementsIn(parseMarkup(rest.join('\n')))
  assert.equal(set?.name, 'urlset')
  assert.equal(set.attributes.get('xmlns'), 'http://www.sitemaps.org/schemas/sitemap/0.9')
  return set.children
    .filter((one) => typeof one !== 'string')
    .map((url) => {
      assert.equal(url.name, 'url')
      const parts = new Map(elementsIn(url).map((part) => [part.name, textIn(part)]))
      assert.deepEqual(
        [...parts.keys()].filter((name) => !['url', 'loc', 'lastmod'].includes(name)),
        [],
      )
      return { loc: parts.get('loc') ?? '', lastmod: parts.get('lastmod') ?? null }
    })
}

/** Prints for each address of a robots.txt whether Python's parser allows it. The first rule decides, without wildcards. */
const PYTHON_PARSER = `
import json, sys, urllib.robotparser
robots, addresses = json.load(sys.stdin)
parser = urllib.robotparser.RobotFileParser()
parser.parse(robots.splitlines())
print(json.dumps([parser.can_fetch("*", "https://a.example" + address) for address in addresses]))`

function allowedByPython(robots: string, addresses: readonly string[]): readonly boolean[] {
  const input = JSON.stringify([robots, addresses])
  const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON_PARSER], { input, encoding: 'utf8' })
  assert.equal(stderr, '')
  return JSON.parse(stdout) as readonly boolean[]
}

/** Whether robots.txt allows an address. The longest rule decides (RFC 9309). */
function isAllowed(robots: string, address: string): boolean {
  const rules = [...robots.matchAll(/^(Allow|Disallow): (\S+)$/gm)].map(([, verb, path = '']) => ({
    allow: verb === 'Allow',
    path,
    form: new RegExp(`^${path.replaceAll(/[.?+]/g, String.raw`\$&`).replaceAll('*', '.*')}`),
  }))
  const [longest] = rules
    .filter(({ form }) => form.test(address))
    .toSorted((a, b) => b.path.length - a.path.length)
  return longest?.allow ?? true
}

suite('the sitemap', () => {
  test('has every page without a query and every ledger, and each exists', async () => {
    const response = await stage.get('/sitemap.xml')
    assert.equal(response.headers.get('content-type'), 'application/xml; charset=utf-8')
    const named = namedIn(await response.text()).map(({ loc }) => loc)
    const pages = PAGES.map(pagePath).filter((path) => !path.includes('{'))
    assert.deepEqual(
      named,
      [...pages, FRICTIONLESS_PATH, '/contests/2/ledger', '/contests/1/ledger'].map(
        (path) => `${base}${path}`,
      ),
    )
    for (const address of named) assert.equal((await fetch(address, { redirect: 'manual' })).status, 200)
  })

  test('has the date of the last change, if it is known', async () => {
    const named = new Map(namedIn(await textOf('/sitemap.xml')).map(({ loc, lastmod }) => [loc, lastmod]))
    assert.equal(named.get(`${base}/flows`), '2026-10-01T00:12:00.000Z')
    assert.equal(named.get(`${base}/about`), null)
    assert.equal(named.get(`${base}/contests/1/ledger`), null)
    await using paid = await openApiStage({
      story: [
        plan(1, null, HOUR_MS),
        { type: 'contest', kind: 'opened', contestId: 1 },
        { type: 'contest', kind: 'closed', contestId: 1 },
        { type: 'contest', kind: 'paid', contestId: 1 },
      ],
    })
    const [ledger] = namedIn(await textOf('/sitemap.xml', paid)).slice(-1)
    assert.equal(ledger?.lastmod, '2026-10-01T00:03:00.000Z')
  })

  test('of an empty log has the pages without dates', async () => {
    await using empty = await openApiStage({ story: [] })
    const named = namedIn(await textOf('/sitemap.xml', empty))
    assert.ok(named.length > 10)
    for (const { lastmod } of named) assert.equal(lastmod, null)
  })

  test('and robots.txt have the URL of the site, for any Host header', async () => {
    const site = `http://127.0.0.1:${stage.port}`
    for (const [path, said] of [
      ['/sitemap.xml', `<loc>${site}/flows</loc>`],
      ['/robots.txt', `Sitemap: ${site}/sitemap.xml`],
    ] as const) {
      for (const host of ['book.example', 'a"<b']) {
        const asked = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
        const { text } = await sendRaw(stage.port, asked)
        assert.ok(text.includes(said))
        assert.doesNotMatch(text, /book\.example|"<b/)
      }
    }
  })

  test('has all contests, up to the limit of its protocol', async () => {
    const story = Array.from({ length: 1_203 }, (_, index) => plan(index + 1, null, index * DAY_MS))
    await using many = await openApiStage({ story })
    const ask: View['ask'] = async (endpoint, { query = '' } = {}) => {
      assert.equal(endpoint, 'contests')
      const address = `/api/v1/contests?${query}`
      return parsed({ address, answer: JSON.parse(await textOf(address, many)) as never })
    }
    const whole = await sitemapEntries(PAGES, ask)
    assert.ok(whole.ok)
    assert.equal(new Set(whole.value.map(({ path }) => path)).size, whole.value.length)
    assert.equal(whole.value.filter(({ path }) => path.startsWith('/contests/')).length, 1_203)
    const cut = await sitemapEntries(PAGES, ask, 1_100)
    assert.ok(cut.ok)
    assert.deepEqual(cut.value, whole.value.slice(0, 1_100))
  })

  test('is at most a minute old', async () => {
    await using told = await openApiStage({ story: [plan(1, null, HOUR_MS)] })
    const first = namedIn(await textOf('/sitemap.xml', told)).length
    told.append([plan(2, null, HOUR_MS)])
    told.setNow(msOf(LAUNCH + 3 * DAY_MS))
    assert.equal(namedIn(await textOf('/sitemap.xml', told)).length, first + 1)
  })
})

/** Addresses that people share, beside the pages of the sitemap. */
const SHARED = ['/events/10', '/summary?at=2026-10-01', '/events?tx=transaction-0001', '/stream']
/** Endless streams, and sets of addresses without a limit. */
const ENDLESS = [
  '/api/v1/stream',
  '/api/v1/stream?after=1',
  '/live',
  '/find?q=1',
  '/flows?bucket=minute',
  '/funds?bucket=minute',
  ...[
    'after=2&limit=3',
    'order=desc&limit=100',
    'from=2026-10-01&to=2026-10-02&type=payout',
    'type=payout',
  ].map((query) => `/events?${query}`),
  '/stream?type=payout',
]

suite('robots.txt', () => {
  test('allows every page of the sitemap, and links to payments', async () => {
    const robots = await textOf('/robots.txt')
    const named = namedIn(await textOf('/sitemap.xml')).map(({ loc }) => loc.slice(base.length))
    for (const path of [...named, ...SHARED]) assert.ok(isAllowed(robots, path), path)
    assert.ok(named.every((path) => ADDRESSES.includes(path) || path === FRICTIONLESS_PATH))
  })

  test('disallows endless streams and unlimited sets of addresses', async () => {
    const robots = await textOf('/robots.txt')
    for (const path of ENDLESS) assert.ok(!isAllowed(robots, path), path)
  })

  test("means the same to Python's parser", { skip: skipWithout('python3') }, async () => {
    const robots = await textOf('/robots.txt')
    const named = namedIn(await textOf('/sitemap.xml')).map(({ loc }) => loc.slice(base.length))
    const addresses = [...new Set([...named, ...ADDRESSES, ...SHARED, ...ENDLESS])]
    assert.deepEqual(
      allowedByPython(robots, addresses).map((isIn, index) => [addresses[index], isIn]),
      addresses.map((address) => [address, isAllowed(robots, address)]),
    )
  })

  test('is plain text, names the sitemap, and counts against no allowance', async () => {
    const response = await stage.get('/robots.txt')
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(response.headers.get('ratelimit'), null)
    assert.ok((await response.text()).endsWith(`\nSitemap: ${base}/sitemap.xml\n`))
  })
})

suite('the icon', () => {
  test('is inline in every page, and the same at /favicon.ico', async () => {
    const response = await stage.get('/favicon.ico')
    assert.equal(response.headers.get('content-type'), 'image/svg+xml')
    const icon = await response.text()
    assert.ok(icon.length < 500, 'it is smaller than an error would be')
    parseMarkup(icon)
    assert.match(icon, /prefers-color-scheme:dark/)
    for (const path of ['/', '/events/999']) {
      const [, href = ''] =
        /<link rel="icon" type="image\/svg\+xml" href="data:image\/svg\+xml,([^"]*)" \/>/.exec(
          await textOf(path),
        ) ?? []
      assert.equal(decodeURIComponent(href.replaceAll('&#39;', "'")), icon, path)
    }
  })
})

suite('a missing file that programs often request', () => {
  for (const path of ['/apple-touch-icon.png', '/ads.txt', '/sitemap_index.xml']) {
    test(`is refused with a short problem: ${path}`, async () => {
      const response = await stage.get(path, { Accept: 'text/html' })
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      assert.ok((await response.text()).length < 500)
    })
  }
})

suite('docs/pages.md names', () => {
  for (const path of ['/favicon.ico', '/robots.txt', '/sitemap.xml']) {
    test(`${path}, which exists`, async () => {
      assert.ok(documentText('docs/pages.md').includes(`\`${path}\``))
      assert.equal((await stage.get(path)).status, 200)
    })
  }
})
