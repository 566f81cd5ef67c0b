import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { plan, type StoryEvent } from '../../../test/story/api-story.ts'
import { HOUR_MS } from '../../protocol/moment.ts'
import { EXAMINED_MAX } from '../../protocol/parameters.ts'
import type { EventsPage } from '../../protocol/endpoints/event-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATE = 'public, max-age=0, must-revalidate'
/** A transaction that more than 20,000 events name. */
const BUSY = 'everything:at-once'

const trade = (tx: string, kots = '1', kind = 'buy'): StoryEvent => ({ type: 'trade', kind, kots, tx })

/** Two prizes paid by one transaction, one of them wrongly, and the correction by another transaction. */
const STORY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '1000', tx: 'deposit-01' },
  plan(1, 'First', HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 1 },
  { type: 'pool', kind: 'top_up', contestId: 1, kots: '100' },
  { type: 'contest', kind: 'closed', contestId: 1 },
  { type: 'prize', kind: 'winner', contestId: 1, kots: '60' },
  { type: 'prize', kind: 'runner_up', contestId: 1, kots: '40' },
  { type: 'payout', kind: 'winner', contestId: 1, kots: '50', tx: 'both-paid' },
  { type: 'payout', kind: 'runner_up', contestId: 1, kots: '40', tx: 'both-paid' },
  { type: 'correction', kind: 'payout', contestId: 1, kots: '-50', details: { corrects: seqOf(8) } },
  {
    type: 'payout',
    kind: 'winner',
    contestId: 1,
    kots: '60',
    tx: 'paid-again',
    details: { restates: seqOf(8) },
  },
]
const HEAD = STORY.length

type Page = EventsPage & Readonly<{ headers: Headers; text: string }>

async function pageOf(stage: ApiStage, query: string): Promise<Page> {
  const response = await stage.get(`/api/v1/events${query}`)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return { ...(JSON.parse(text) as EventsPage), headers: response.headers, text }
}

const seqs = ({ events }: EventsPage): number[] => events.map(({ seq }) => seq)

suite('a page of one transaction', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage({ story: STORY, streams: true })
  })
  after(() => stage[Symbol.asyncDispose]())
  const page = (query: string): Promise<Page> => pageOf(stage, query)

  const found: readonly (readonly [
    query: string,
    seqs: readonly number[],
    scannedTo: number,
    hasMore: boolean,
  ])[] = [
    ['?tx=both-paid', [8, 9], HEAD, false],
    ['?tx=nobody-paid', [], HEAD, false],
    // Transactions are case-sensitive.
    ['?tx=Both-paid', [], HEAD, false],
    ['?tx=both-paid&kind=runner_up', [9], HEAD, false],
    ['?tx=both-paid&type=burn', [], HEAD, false],
    ['?tx=both-paid&contestId=2', [], HEAD, false],
    ['?tx=both-paid&nonzero=1', [8, 9], HEAD, false],
    ['?tx=both-paid&after=8', [9], HEAD, false],
    ['?tx=both-paid&to=2026-10-01T00:08Z', [8], 8, false],
    ['?tx=both-paid&limit=1', [8], 8, true],
    ['?tx=both-paid&limit=2', [8, 9], 9, true],
    ['?tx=both-paid&order=desc', [9, 8], 1, false],
    ['?tx=both-paid&order=desc&before=9', [8], 1, false],
    ['?tx=both-paid&order=desc&limit=1', [9], 9, true],
    // A corrected event still names its transaction; the correction names none.
    ['?tx=paid-again', [11], HEAD, false],
  ]
  for (const [query, expected, scannedTo, hasMore] of found) {
    test(`with ${query} is scanned to ${scannedTo}`, async () => {
      const one = await page(query)
      assert.deepEqual(seqs(one), expected)
      const { count, next } = one.page
      assert.deepEqual(
        { ...one.page, count, next },
        { ...one.page, scannedTo, hasMore, count: expected.length, next },
      )
      assert.equal(next !== null, hasMore)
    })
  }

  test('links to the next and then ends', async () => {
    const first = await page('?tx=both-paid&limit=1')
    assert.equal(first.page.next, '/api/v1/events?after=8&tx=both-paid&limit=1')
    const second = await page('?after=8&tx=both-paid&limit=1')
    assert.deepEqual([seqs(second), second.page.hasMore], [[9], true])
    const last = await page('?after=9&tx=both-paid&limit=1')
    assert.deepEqual([seqs(last), last.page.scannedTo, last.page.hasMore], [[], HEAD, false])
  })

  test('is immutable when it is full or ends at a given seq, and revalidated otherwise', async () => {
    const keeps = async (query: string): Promise<string | null> =>
      (await page(query)).headers.get('cache-control')
    assert.equal(await keeps('?tx=both-paid&limit=2'), IMMUTABLE)
    assert.equal(await keeps('?tx=both-paid&order=desc&before=12'), IMMUTABLE)
    assert.equal(await keeps('?tx=both-paid'), REVALIDATE)
    assert.equal(await keeps('?tx=nobody-paid'), REVALIDATE)
    assert.equal(await keeps('?tx=both-paid&order=desc'), REVALIDATE)
  })

  test('as CSV has the same events', async () => {
    const response = await stage.get('/api/v1/events?tx=both-paid&format=csv')
    const [, ...rows] = (await response.text()).trimEnd().split('\r\n')
    assert.deepEqual(
      rows.map((row) => row.split(',')[0]),
      ['8', '9'],
    )
    assert.equal(response.headers.get('daybook-scanned-to'), String(HEAD))
    assert.equal(response.headers.get('daybook-has-more'), 'false')
  })

  test('as CSV has no cell that starts a formula', async () => {
    await using own = await openApiStage({
      story: [{ type: 'trade', kind: 'buy', kots: '1', tx: '-1-cmd_calc' }],
    })
    const text = await (await own.get('/api/v1/events?format=csv')).text()
    assert.match(text, /,1\.000000000,'-1-cmd_calc\r\n$/)
    assert.equal(await (await own.get('/events.csv')).text(), text)
  })

  for (const sent of ['', 'short', 'a'.repeat(129), 'with%20blank', '%22%7D', 'both-paid%0A']) {
    test(`of ${JSON.stringify(sent.slice(0, 14))}, no form of the chain, is refused without an echo`, async () => {
      const response = await stage.get(`/api/v1/events?tx=${sent}`)
      const text = await response.text()
      assert.equal(response.status, 400)
      const { code, errors } = JSON.parse(text) as {
        code: string
        errors: { parameter: string; message: string }[]
      }
      assert.equal(code, 'invalid-parameter')
      assert.deepEqual(errors, [
        { parameter: 'tx', message: '`tx` must be 8 to 128 of the characters A-Z a-z 0-9 : _ -.' },
      ])
    })
  }

  test('is not offered by the stream', async () => {
    const response = await stage.get('/api/v1/stream?tx=both-paid')
    assert.equal(response.status, 400)
    assert.equal(((await response.json()) as { code: string }).code, 'unknown-parameter')
  })

  test('has an event that is published after the first request', async () => {
    await using other = await openApiStage({ story: [...STORY, trade('both-paid')] })
    assert.deepEqual(seqs(await pageOf(other, '?tx=both-paid')), [8, 9, HEAD + 1])
  })
})

suite('a transaction that many events name', () => {
  const COUNT = EXAMINED_MAX + 5
  let stage: ApiStage
  before(async () => {
    const busy = Array.from({ length: COUNT }, (_, index) =>
      trade(BUSY, '1', index === COUNT - 1 ? 'sell' : 'buy'),
    )
    stage = await openApiStage({ story: [trade('the-first'), ...busy, trade('the-last-one')] })
  })
  after(() => stage[Symbol.asyncDispose]())

  test('is looked through in one answer, in either order', async () => {
    const first = await pageOf(stage, `?tx=${BUSY}&kind=sell`)
    assert.deepEqual([seqs(first), first.page.scannedTo, first.page.hasMore], [[COUNT + 1], COUNT + 2, false])
    const back = await pageOf(stage, `?tx=${BUSY}&kind=buy,sell&order=desc&limit=2`)
    assert.deepEqual([seqs(back), back.page.scannedTo, back.page.hasMore], [[COUNT + 1, COUNT], COUNT, true])
    const none = await pageOf(stage, `?tx=${BUSY}&type=burn&order=desc`)
    assert.deepEqual([seqs(none), none.page.scannedTo, none.page.hasMore], [[], 1, false])
  })
})
