import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { MINUTE_MS } from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import type { Ask } from '../route.ts'
import type { Web } from './page-routes.ts'
import { sitemapRoute } from './sitemap.ts'

const CONTEST = { id: 1, status: 'running', paidAt: null }
const JSON_OF_ONE = JSON.stringify({ asOf: { at: null }, contests: [CONTEST], next: null })

suite('the sitemap of one minute', () => {
  let asked: number
  let answer: () => Parsed<Readonly<{ json: string }>>
  let replyTo: (host: string, minute?: number) => Promise<Uint8Array | string | null>
  beforeEach(() => {
    asked = 0
    answer = () => parsed({ json: JSON_OF_ONE })
    const ask = (): Promise<unknown> => {
      asked += 1
      return Promise.resolve(answer())
    }
    const route = sitemapRoute({ api: { ask } } as unknown as Web, [])
    replyTo = async (host, minute = 0) => {
      const asking = { now: minute * MINUTE_MS + 1, header: () => host } as unknown as Ask
      const reply = await route.handle(asking)
      return reply.is === 'body' ? reply.body : null
    }
  })

  test('is written once for a host: who has it already costs nothing, and it is compressed once', async () => {
    const first = await replyTo('book.example')
    assert.ok(first !== null && typeof first !== 'string')
    assert.equal(await replyTo('book.example'), first)
    assert.notEqual(await replyTo('book.example', 1), first)
  })

  test('asks for the contests once, whatever hosts it is asked by', async () => {
    const [one, other] = [await replyTo('one.example'), await replyTo('other.example')]
    assert.match(String(one), /https:\/\/one\.example\/contests\/1\/ledger/)
    assert.match(String(other), /https:\/\/other\.example\/contests\/1\/ledger/)
    assert.equal(asked, 1)
  })

  test('is asked for again after a refusal: one caller’s is not everybody’s', async () => {
    answer = () => refused({ code: 'not-ready', detail: 'It starts.' })
    assert.equal(await replyTo('book.example'), null)
    answer = () => parsed({ json: JSON_OF_ONE })
    assert.ok((await replyTo('book.example')) !== null)
  })
})
