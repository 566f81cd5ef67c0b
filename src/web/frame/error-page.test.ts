import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'

import type { LogIdentity } from '../../log/store/reader.ts'
import { msOf } from '../../protocol/moment.ts'
import { DEFAULT_SITE } from '../markup/site.ts'
import { errorPage } from './error-page.ts'

const EVM = `0x${'ab'.repeat(20)}`

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const CHARS_MAX = 10_000
const repeated = (pair: string, times: number): string => Array.from({ length: times }, () => pair).join('&')

suite('an error page', () => {
  const long: readonly (readonly [what: string, query: string, status?: number])[] = [
    ['longer than a query may be', repeated('x=1', 1_800), 414],
    ['with a long value', `from=${'%3C'.repeat(1_300)}`],
    ['with one name many times', repeated('bucket=day', 300)],
    ['with one unknown name many times', repeated('x', 2_000)],
    ['with many unknown names', Array.from({ length: 600 }, (_, index) => `x${index}`).join('&')],
  ]
  for (const [what, query, status = 400] of long) {
    test(`is small for a query ${what}`, async () => {
      const response = await stage.get(`/flows?${query}`)
      const page = await response.text()
      assert.equal(response.status, status)
      assert.ok(page.length <= CHARS_MAX, `${page.length} characters`)
      assert.doesNotMatch(page, /JSON of this error|rel="alternate"/)
      assert.match(page, /<a class="button" href="\/flows">The same page without parameters<\/a>/)
    })
  }

  test('of a missing page leads to pages, and names no path of the API', async () => {
    for (const path of ['/nothing', '/contests/99/ledger', '/contests/x/ledger', '/events/999']) {
      const response = await stage.get(path)
      const words = (await response.text()).replaceAll(/<[^>]*>/g, ' ')
      assert.equal(response.status, 404, path)
      assert.doesNotMatch(words, /\/api\//, path)
    }
  })

  test('links its JSON if the query is short', async () => {
    const page = await (await stage.get('/flows?bucket=year')).text()
    assert.match(page, /<a class="button" href="\/api\/v1\/flows\?bucket=year">JSON of this error<\/a>/)
  })

  test('lists eight faults, and says that there may be more', async () => {
    const page = await (await stage.get(`/flows?${'abcdefghijkl'.split('').join('&')}`)).text()
    assert.equal([...page.matchAll(/<code>[a-l]<\/code> is not known here/g)].length, 8)
    assert.match(page, /8 or more parameters are not right\./)
  })

  const split = (address: string, groups: number): string =>
    (address.match(new RegExp(`.{1,${groups}}`, 'g')) ?? []).join(' ')
  const guarded: readonly (readonly [what: string, query: string])[] = [
    ['an address in groups', `q=${encodeURIComponent(split(EVM, 8))}&status=open`],
    ['an address in groups after a letter', `q=${encodeURIComponent(`é${split(EVM, 8)}`)}&status=open`],
    ['an address in groups, with pluses', `q=%C3%A9${split(EVM, 8).replaceAll(' ', '+')}&limit=x`],
    ['an address as the name of a parameter', `%C3%A9${encodeURIComponent(split(EVM, 8))}=1`],
    ['a title with hex digits of an address', `q=${'ab'.repeat(20)}&limit=x`],
  ]
  for (const [what, query] of guarded) {
    test(`repeats nothing of a query that the guard refuses: ${what}`, async () => {
      const response = await stage.get(`/contests?${query}`)
      const page = await response.text()
      assert.equal(response.status, 400)
      const plain = decodeURIComponent(page.replaceAll(/%(?![0-9a-f]{2})/gi, '%25')).replaceAll(/[\s+]/g, '')
      assert.doesNotMatch(plain, /(?:ab){10}/)
      assert.doesNotMatch(page, /JSON of this error/)
    })
  }

  test('of a spent allowance says in how many seconds and at which moment pages go on', () => {
    const problem = { code: 'rate-limited', detail: 'Sixty are allowed.', retryAfterSeconds: 12 } as const
    const identity = { simulated: false } as LogIdentity
    const assets = { files: new Map(), path: (name: string) => `/${name}` }
    const now = msOf(Date.UTC(2026, 10, 23, 3, 51, 0))
    const reply = errorPage(problem, {
      site: DEFAULT_SITE,
      identity,
      assets,
      isPage: true,
      path: '/flows',
      api: null,
      now,
    })
    assert.ok(reply.is === 'body')
    const page = reply.body.toString()
    assert.match(page, /<meta http-equiv="refresh" content="12" \/>/)
    assert.match(
      page.replaceAll(/<[^>]*>/g, ''),
      /Pages are available again in 12 s, at 23 Nov 2026 03:51:12 UTC\./,
    )
    assert.equal(reply.headers?.['Retry-After'], '12')
  })

  test('of a path without a page says it once, and offers the search', async () => {
    const page = await (await stage.get('/nothing')).text()
    const [main = ''] = /<main[^]*<\/main>/.exec(page) ?? []
    assert.equal(main.split('There is nothing at this address').length, 2)
    assert.match(page, /<main[^]*<form class="find" role="search" action="\/find"/)
  })
})
