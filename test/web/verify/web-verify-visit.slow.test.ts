import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import type { LogKeys } from '../../../src/protocol/status-resources.ts'
import { type Browser, openBrowser } from '../../stage/browser.ts'
import { check, showNewKey, signedBy, stepsOf, STOPPED, trade, verdictOn } from './checked-page.ts'
import { type ModelService, openModelService } from '../../stage/model-service.ts'
import { OTHER_KEY, TEST_KEY } from '../../story/signing.ts'

const ORIGIN = 'daybook.test/model'

let service: ModelService
let browser: Browser
before(async () => {
  service = await openModelService(Date.UTC(2026, 4, 20))
  browser = await openBrowser()
  await trade(service, 30)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const urlOf = (path: string): string => `http://127.0.0.1:${service.port()}${path}`
const newest = async (): Promise<string> => (await service.get('/api/v1/log/checkpoint')).text()

/** The present tree, signed by a log of this name with another key. */
async function showOther(page: Page, origin: string, statedBy: SigningKey | null): Promise<void> {
  const [, size = '', root = ''] = (await newest()).split('\n')
  const [note, vkey] = signedBy(OTHER_KEY, origin, `${origin}\n${size}\n${root}\n`)
  const rotation = `daybook key rotation v1\n${origin}\n1\n${vkey}\n`
  const statement = statedBy === null ? null : signedBy(statedBy, origin, rotation)[0]
  const { keys, ...served } = (await (await service.get('/api/v1/log/keys')).json()) as LogKeys
  const other = { vkey, state: 'signing', fromSize: 1, toSize: null, statement }
  const listed = statedBy === null ? [other] : [...keys, other]
  await page.route('**/log/checkpoint', (route) => route.fulfill({ body: note }))
  await page.route('**/log/keys', (route) => route.fulfill({ json: { ...served, origin, keys: listed } }))
}

const keep = (page: Page, name: string, text: string): Promise<void> =>
  page.evaluate(([to, what]) => localStorage.setItem(`daybook-visit ${to}`, what), [name, text] as const)
const keptOf = (page: Page, name: string): Promise<string | null> =>
  page.evaluate((of) => localStorage.getItem(`daybook-visit ${of}`), name)

suite('the check since the last visit', () => {
  test('proves that the log only grew, and fails one that did not', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    assert.deepEqual(await check(page, 'visit'), ['verified', 'verified'])
    assert.equal(await verdictOn(page, 'visit'), 'First visit: the state is saved.')
    await trade(service, 7)
    assert.deepEqual(await check(page, 'visit'), ['verified', 'verified', 'verified'])
    assert.equal(await verdictOn(page, 'visit'), 'The log only grew.')
    assert.match(
      await stepsOf(page, 'visit'),
      /Unchanged since your visit on \d{4}-\d\d-\d\d: .* and 7 after them/,
    )
    const kept = (await keptOf(page, ORIGIN)) ?? ''
    for (const [from, to] of [
      [/\n37\n..../, '\n37\nAAAA'],
      [/\n37\n/, '\n38\n'],
      [/\n37\n/, '\n5\n'],
    ] as const) {
      assert.match(kept, from)
      await keep(page, ORIGIN, kept.replace(from, to))
      assert.deepEqual(await check(page, 'visit'), ['verified', ...STOPPED])
    }
  })

  for (const origin of ['other.test/log', ORIGIN]) {
    test(`warns that the address had a log with another key before, now named ${origin}`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const { page } = sight
      await check(page, 'visit')
      const kept = await keptOf(page, ORIGIN)
      await showOther(page, origin, null)
      assert.deepEqual(await check(page, 'visit'), ['verified', ...STOPPED])
      assert.match(await stepsOf(page, 'visit'), /not the log that you visited.*daybook\.test\/model\+/)
      assert.equal(await keptOf(page, ORIGIN), kept)
      await page.unrouteAll()
      assert.deepEqual(await check(page, 'visit'), ['verified', 'verified', 'verified'])
    })
  }

  for (const [by, statedBy, marks] of [
    ['the key of before', TEST_KEY, ['verified', 'verified', 'verified']],
    ['itself', OTHER_KEY, ['verified', ...STOPPED]],
  ] as const) {
    test(`accepts a new key by the statement of ${by}: ${marks.join(', ')}`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const { page } = sight
      await check(page, 'visit')
      await showOther(page, ORIGIN, statedBy)
      assert.deepEqual(await check(page, 'visit'), marks)
    })
  }
})

suite('a first visit', () => {
  test('takes the new key of a log that has had no event since the key changed', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    await showNewKey(sight.page, service, (size) => size, false)
    assert.deepEqual(await check(sight.page, 'visit'), ['verified', 'verified'])
    assert.match(await stepsOf(sight.page, 'visit'), /signed by the key that the log itself names/)
  })
})

suite('a visit by a browser', () => {
  test('without Ed25519 stores nothing unchecked, and fails nothing by it', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    await page.addInitScript(() => {
      Object.defineProperty(crypto, 'subtle', { value: undefined })
    })
    await page.route('**/assets/verify-signature.*', (route) => route.abort())
    await page.reload()
    assert.deepEqual(await check(page, 'visit'), ['not checked', 'not checked'])
    assert.equal(await keptOf(page, ORIGIN), null)
    const [note, vkey] = signedBy(OTHER_KEY, 'other.test/log', `other.test/log\n9\n${'A'.repeat(43)}=\n`)
    await keep(page, urlOf(''), `2026-01-01 ${vkey}\n${note}`)
    assert.deepEqual(await check(page, 'visit'), ['not checked', 'not checked'])
  })

  for (const text of [
    '{}',
    'true',
    '{bad',
    '{"size":"42"}',
    '{"size":9,"root":"x","date":"d"}',
    '\n',
    'd k\n',
  ]) {
    test(`takes ${JSON.stringify(text)} as no stored visit`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const { page } = sight
      await keep(page, ORIGIN, text)
      await keep(page, urlOf(''), text)
      assert.deepEqual(await check(page, 'visit'), ['verified', 'verified'])
      assert.deepEqual(await check(page, 'visit'), ['verified', 'verified', 'verified'])
    })
  }

  test('reports missing storage, which is no failure', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    await sight.page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new Error('Access is denied')
        },
      })
    })
    await sight.page.reload()
    assert.deepEqual(await check(sight.page, 'visit'), ['verified', 'not checked'])
    assert.match(await stepsOf(sight.page, 'visit'), /stores nothing/)
  })
})

suite('a missing answer', () => {
  for (const [status, seconds, said] of [
    [429, 90, /Too many requests from your address\. Try again in 90 s$/],
    [429, 1, /Try again in 1 s$/],
    [503, 30, /answers 503\. Try again in 30 s$/],
  ] as const) {
    test(`fails nothing and shows the seconds to wait: ${status} for ${seconds} s`, async () => {
      await using sight = await browser.see(urlOf('/verify?seq=4'))
      await sight.page.route('**/api/v1/events/4', (route) =>
        route.fulfill({ status, headers: { 'retry-after': String(seconds) }, body: '{}' }),
      )
      assert.deepEqual(await check(sight.page, 'event'), ['verified', 'not checked'])
      assert.match(await stepsOf(sight.page, 'event'), said)
      assert.equal(await verdictOn(sight.page, 'event'), 'Not all is verified.')
    })
  }

  test('because of the rate limit is waited for', async () => {
    await using sight = await browser.see(urlOf('/verify?seq=4'))
    let refusals = 1
    await sight.page.route('**/api/v1/events/4', (route) =>
      refusals-- > 0 ? route.fulfill({ status: 429, headers: { 'retry-after': '1' } }) : route.continue(),
    )
    const form = sight.page.locator('form[data-check=event]')
    await form.locator('button').click()
    await form.locator('output', { hasText: 'Rate limit reached. Continuing in 1 s …' }).waitFor()
    await form.locator('output', { hasText: 'Event 4 is in the signed log.' }).waitFor()
  })

  test('fails nothing if there is no response', async () => {
    await using sight = await browser.see(urlOf('/verify?seq=4'))
    await sight.page.route('**/api/v1/log/checkpoint', (route) => route.abort())
    assert.deepEqual(await check(sight.page, 'event'), ['not checked'])
  })

  test('is requested again after it was altered on its way', async () => {
    let isAltering = true
    await using relay = await openAltering((path) => isAltering && path.includes('/tile/0/'))
    await using sight = await browser.see(`${relay.url}/verify?seq=4`)
    assert.deepEqual((await check(sight.page, 'event')).slice(-2), STOPPED)
    isAltering = false
    assert.deepEqual(await check(sight.page, 'event'), ['verified', 'verified'])
  })
})

/** A proxy between browser and service that alters some answers and keeps their headers. */
async function openAltering(
  alters: (path: string) => boolean,
): Promise<AsyncDisposable & Readonly<{ url: string }>> {
  const server = createServer((asked, answer) => {
    const { url: path = '', headers } = asked
    const to = { port: service.port(), path, headers: { ...headers, 'accept-encoding': 'identity' } }
    request(to, async (come) => {
      const body = await buffer(come)
      answer.writeHead(come.statusCode ?? 0, come.headers)
      answer.end(alters(path) ? body.fill(7, 0, 32) : body)
    }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The page's global object, for scripts that run in the page. */
declare const localStorage: Readonly<{
  getItem(name: string): string | null
  setItem(name: string, text: string): void
}>
