import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { MINUTE_MS } from '../../protocol/moment.ts'
import { type Parsed, parsed, refused } from '../../protocol/problem.ts'
import type { RouteRequest } from '../../serve/http/route.ts'
import type { Web } from '../frame/page-routes.ts'
import { sitemapRoute } from './crawlers.ts'

const CONTEST = { id: 1, outcome: null, paidAt: null }
const ANSWER_OF_ONE = { asOf: { at: null }, contests: [CONTEST], next: null }

suite('the sitemap of one minute', () => {
  let asked: number
  let answer: () => Parsed<Readonly<{ answer: unknown }>>
  let reply: (minute?: number) => Promise<Uint8Array | string | null>
  beforeEach(() => {
    asked = 0
    answer = () => parsed({ answer: ANSWER_OF_ONE })
    const ask = (): Promise<unknown> => {
      asked += 1
      return Promise.resolve(answer())
    }
    const route = sitemapRoute({ api: { ask }, site: { url: 'https://book.example' } } as unknown as Web, [])
    reply = async (minute = 0) => {
      const asking = { now: minute * MINUTE_MS + 1 } as unknown as RouteRequest
      const made = await route.handle(asking)
      return made.is === 'body' ? made.body : null
    }
  })

  test('is rendered once, and every caller gets the same bytes', async () => {
    const first = await reply()
    assert.ok(first !== null && typeof first !== 'string')
    assert.match(String(Buffer.from(first)), /https:\/\/book\.example\/contests\/1\/ledger/)
    assert.equal(await reply(), first)
    assert.equal(asked, 1)
    assert.notEqual(await reply(1), first)
  })

  test('is rendered again after a refusal, which is not cached', async () => {
    answer = () => refused({ code: 'not-ready', detail: 'It starts.' })
    assert.equal(await reply(), null)
    answer = () => parsed({ answer: ANSWER_OF_ONE })
    assert.ok((await reply()) !== null)
  })
})
