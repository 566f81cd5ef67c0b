import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Page, Route } from 'playwright-core'
import { type Browser, type BrowserPage, openBrowser } from '../../stage/browser.ts'
import { check, stepsOf, STOPPED, trade } from './checked-page.ts'
import { type ModelService, openModelService } from '../../stage/model-service.ts'

const MODULE = /\/assets\/verify-signature\.[0-9a-f]+\.js/
const MODULE_BYTES_MAX = 6.8 * 1024
const PROVED = ['verified', 'verified'] as const
const FILE = { name: 'file.csv', mimeType: 'text/csv', buffer: Buffer.from('of nobody') }
/** An `http:` origin that is not loopback, where browsers have no `crypto.subtle`. */
const PLAIN = 'http://data.example'

let service: ModelService
let browser: Browser
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verify-ed25519-'))
  service = await openModelService(Date.UTC(2026, 4, 20))
  browser = await openBrowser()
  await trade(service, 40)
  service.setNow(Date.UTC(2026, 5, 2))
  await trade(service, 3)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const urlOf = (path: string): string => `http://127.0.0.1:${service.port()}${path}`

/** Ways to take Ed25519 from a browser: a script before the page, or the page's origin. */
const WAYS: readonly (readonly [
  how: string,
  address: () => string,
  prepare: (page: Page) => Promise<unknown>,
])[] = [
  ['has no WebCrypto', () => urlOf(''), withoutSubtle],
  [
    'is older than the curve',
    () => urlOf(''),
    (page) =>
      page.addInitScript(() => {
        const { importKey } = SubtleCrypto.prototype
        SubtleCrypto.prototype.importKey = function (...asked) {
          if (asked[2] === 'Ed25519') return Promise.reject(new Error('Unrecognized name'))
          return importKey.apply(this, asked)
        }
      }),
  ],
  ['is on a page without https', () => PLAIN, servePlain],
]

function withoutSubtle(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    Object.defineProperty(crypto, 'subtle', { value: undefined })
  })
}

/** The service at an `http:` origin. */
async function servePlain(page: Page): Promise<void> {
  await page.route(`${PLAIN}/**`, async (route) => {
    const url = urlOf(route.request().url().slice(PLAIN.length))
    await route.fulfill({ response: await route.fetch({ url }) })
  })
}

type Prepared = BrowserPage & Readonly<{ asked: readonly string[] }>

/** A prepared page, with the addresses that it requested. */
async function see(url: string, prepare: (page: Page) => Promise<unknown>): Promise<Prepared> {
  const sight = await browser.see('about:blank')
  const asked: string[] = []
  sight.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await prepare(sight.page)
  await sight.page.goto(url)
  return { ...sight, asked, [Symbol.asyncDispose]: () => sight[Symbol.asyncDispose]() }
}

const modulesIn = (asked: readonly string[]): number => asked.filter((path) => MODULE.test(path)).length

/** Alterations of the checkpoint by a relay: of R, of S, and of the signed text. */
const LIES: readonly (readonly [from: RegExp, to: string])[] = [
  [/(— \S+ .{20})..../, '$1AAAA'],
  [/(— \S+ .{60})..../, '$1AAAA'],
  [/\n43\n/, '\n44\n'],
]

suite('a browser that', () => {
  for (const [how, address, prepare] of WAYS) {
    test(`${how} checks a signature with the module, which it loads on demand and once`, async () => {
      await using sight = await see(`${address()}/verify?seq=42`, prepare)
      const { page, asked } = sight
      assert.equal(modulesIn(asked), 0)
      assert.deepEqual(await check(page, 'event'), PROVED)
      assert.match(await stepsOf(page, 'event'), /✔ verified The checkpoint of 43 events is signed by/)
      assert.equal(modulesIn(asked), 1)
      const checkpoint = await (await service.get('/api/v1/log/checkpoint')).text()
      for (const [from, to] of LIES) {
        const body = checkpoint.replace(from, to)
        assert.notEqual(body, checkpoint)
        await page.route('**/log/checkpoint', (route) => route.fulfill({ body }))
        assert.deepEqual(await check(page, 'event'), STOPPED)
        await page.unroute('**/log/checkpoint')
      }
      assert.deepEqual(await check(page, 'event'), PROVED)
      assert.equal(modulesIn(asked), 1)
    })
  }

  test('is on a page without https runs every check', async () => {
    await using sight = await see(`${PLAIN}/verify?seq=42`, servePlain)
    const { page } = sight
    assert.equal(await page.evaluate(() => isSecureContext), false)
    await page.locator('input[name=payment]').fill('42')
    assert.deepEqual(await check(page, 'payment'), [...PROVED, 'not checked'])
    assert.deepEqual(await check(page, 'visit'), ['verified', 'verified'])
    assert.deepEqual(await check(page, 'visit'), ['verified', 'verified', 'verified'])
    await page.locator('input[name=month]').fill('2026-05')
    const month = await check(page, 'month')
    assert.deepEqual(
      month,
      [...Array<string>(9).fill('verified'), 'not checked'],
      await stepsOf(page, 'month'),
    )
    await page.locator('form[data-check=file] input').setInputFiles(FILE)
    assert.deepEqual(await check(page, 'file'), ['verified', 'failed'])
    assert.deepEqual(
      sight.wrong.filter((line) => !line.startsWith(PLAIN)),
      [],
    )
  })

  test('has Ed25519 never requests the module', async () => {
    await using sight = await see(urlOf('/verify?seq=42'), async () => {})
    assert.deepEqual(await check(sight.page, 'event'), PROVED)
    assert.deepEqual(await check(sight.page, 'visit'), ['verified', 'verified'])
    assert.equal(modulesIn(sight.asked), 0)
  })

  for (const [what, answer] of [
    ['does not come', (route: Route) => route.abort()],
    ['is not found', (route: Route) => route.fulfill({ status: 404, body: '' })],
    ['is no script', (route: Route) => route.fulfill({ contentType: 'text/javascript', body: '<' })],
    ['holds something else', (route: Route) => route.fulfill({ contentType: 'text/javascript', body: '' })],
  ] as const) {
    test(`has no Ed25519 says that the signature is not checked if the module ${what}`, async () => {
      await using sight = await see(urlOf('/verify?seq=42'), async (page) => {
        await withoutSubtle(page)
        await page.route(MODULE, answer)
      })
      assert.deepEqual(await check(sight.page, 'event'), ['not checked', 'verified'])
      assert.match(await stepsOf(sight.page, 'event'), /no Ed25519.*could not be loaded/)
    })
  }

  test('runs the saved verifier says that it has no Ed25519, and loads nothing', async () => {
    const path = join(folder, 'daybook-verify.html')
    await writeFile(path, await (await service.get('/verify/daybook-verify.html')).text())
    await using sight = await see(pathToFileURL(path).href, withoutSubtle)
    const { page, asked } = sight
    await page.locator('input[name=base]').fill(urlOf(''))
    await page.locator('input[name=seq]').fill('42')
    assert.deepEqual(await check(page, 'event'), ['not checked', 'verified'])
    assert.match(await stepsOf(page, 'event'), /no Ed25519.*this file brings none/)
    assert.deepEqual(
      asked.slice(1).filter((at) => !at.startsWith('/api/v1/')),
      [],
    )
  })
})

suite('the module that checks signatures', () => {
  test('is small, immutable, and no script of the page', async () => {
    const page = await (await service.get('/verify')).text()
    const [path = ''] = MODULE.exec(page) ?? []
    assert.doesNotMatch(page, new RegExp(`(?:src|href)="${path}`))
    const answer = await service.get(path)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    const bytes = gzipSync(await answer.text(), { level: 9 }).length
    assert.ok(bytes <= MODULE_BYTES_MAX, `${bytes} bytes`)
  })
})

/** The page's global object, for scripts that run in the page. */
declare const isSecureContext: boolean
declare const SubtleCrypto: Readonly<{
  prototype: { importKey: (...asked: unknown[]) => Promise<unknown> }
}>
