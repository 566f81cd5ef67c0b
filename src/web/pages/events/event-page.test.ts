import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { HOUR_MS } from '../../../protocol/moment.ts'
import { seqOf } from '../../../protocol/seq.ts'

const REVALIDATE = 'public, max-age=0, must-revalidate'

const STORY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '1000' },
  plan(5, 'Fifth', HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 5 },
  { type: 'play', kind: 'entry', contestId: 5, kots: '12.3' },
  { type: 'correction', kind: 'play', contestId: 5, kots: '-12.3', details: { corrects: seqOf(4) } },
  { type: 'play', kind: 'entry', contestId: 5, kots: '1.3', details: { restates: seqOf(4), count: 2 } },
  { type: 'burn', kind: 'income', kots: '7' },
  { type: 'correction', kind: 'burn', kots: '-7', details: { corrects: seqOf(7), reason: 'Twice' } },
  { type: 'loyalty', kind: 'accrual', kots: '3' },
]

const PAID = 11
const PAYING: readonly StoryEvent[] = [
  ...STORY.slice(0, 6),
  { type: 'pool', kind: 'top_up', contestId: 5, kots: '100' },
  { type: 'contest', kind: 'closed', contestId: 5 },
  { type: 'prize', kind: 'runner_up', contestId: 5, kots: '90' },
  { type: 'payout', kind: 'runner_up', contestId: 5, kots: '1', tx: 'transaction-0001' },
  { type: 'payout', kind: 'runner_up', contestId: 5, kots: '63.509856984', tx: 'transaction-0002' },
]

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ story: STORY })
})
after(() => stage[Symbol.asyncDispose]())

const textOf = (page: string): string =>
  (/<article[^>]*>([^]*)<\/main>/.exec(page)?.[1] ?? '')
    .replaceAll(/<section class="bar"[^]*?<\/section>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,:;)])/g, '')
    .trim()

const pageAt = async (seq: number): Promise<string> => (await stage.get(`/events/${seq}`)).text()

suite('the page of an event', () => {
  test('names the events that cancelled and replaced it, first of all', async () => {
    const text = textOf(await pageAt(4))
    assert.match(text, /^Cancelled by event 5\. Its amount no longer counts\. Event 6 replaces it\. /)
    assert.match(text, / Corrected By event 5 /)
    assert.match(await pageAt(4), /class="receipt void"/)
  })

  test('names no replacement if there is none', async () => {
    const text = textOf(await pageAt(7))
    assert.match(text, /^Cancelled by event 8\. Its amount no longer counts\. /)
    assert.doesNotMatch(text, /replaces it/)
  })

  test('says up to which event it is not corrected', async () => {
    for (const seq of [1, 2, 5, 6, 9]) {
      const page = await pageAt(seq)
      assert.doesNotMatch(page, /class="banner|Cancelled by/)
      assert.match(textOf(page), /Corrected Never, up to event 9 /)
    }
  })

  test('links the JSON of its corrections, and shows nothing that its JSON lacks', async () => {
    for (const seq of STORY.map((_, index) => index + 1)) {
      const page = await pageAt(seq)
      const sources = sourcesOf(page)
      assert.ok(sources.includes(`/api/v1/events/${seq}/corrections`))
      assertParity(page, await Promise.all(sources.map(async (path) => (await stage.get(path)).text())))
    }
  })

  test('has a sentence about what happened', async () => {
    const text = textOf(await pageAt(6))
    assert.match(text, /What 1\.30 0000000 KOTS were spent on 2 plays \( entry\) in contest 5 on/)
    assert.match(text, /It replaces event 4\./)
    assert.match(text, /Replaces Event 4, which was cancelled/)
    assert.match(textOf(await pageAt(8)), /Cancels event 7, of type burn, on [^.]*: it counts -7\.00/)
  })

  test('calls a contest that was cancelled cancelled, and not closed', async () => {
    const cancellation: StoryEvent = { type: 'contest', kind: 'cancelled', contestId: 5 }
    await using over = await openApiStage({ story: [...STORY.slice(0, 3), cancellation] })
    const text = textOf(await (await over.get('/events/3')).text())
    assert.match(text, /Fifth Contest 5, cancelled 1 Oct 2026 00:03:00 UTC/)
  })

  test('of a payment is a receipt: exact amount, to whom, for what, when, and its transaction', async () => {
    await using paying = await openApiStage({ story: PAYING })
    const page = await (await paying.get(`/events/${PAID}`)).text()
    const text = textOf(page)
    assert.match(text, / Receipt of a payment 63\.509856984 KOTS Paid to /)
    assert.match(text, /Paid to A runner-up For Fifth Contest 5, closed /)
    assert.match(text, /Entered Thursday 1 October 2026, 00:10:00\.000 UTC /)
    assert.match(text, /Transaction transaction-0002 Copy /)
    assert.match(
      text,
      /In the signed log\. Event 11 of 11; 2 hashes lead from this line to the root, which is/,
    )
    const sources = sourcesOf(page)
    assert.ok(sources.includes(`/api/v1/log/proof/${PAID}`) && sources.includes('/api/v1/contests/5'))
    const answers = await Promise.all(sources.map(async (path) => (await paying.get(path)).text()))
    assertParity(page, answers)
    const [root = ''] = /^[\w+/]{43}=$/m.exec(answers.at(-1)?.split('\n\n')[1] ?? '') ?? []
    assert.ok(text.includes(`Root ${root}`))
  })

  test('of a payment can be checked without a script on the page of checks', async () => {
    await using paying = await openApiStage({ story: PAYING })
    const page = await (await paying.get(`/events/${PAID}`)).text()
    assert.match(page, /<a href="\/verify\?seq=11" class="button main"\s*>Check this receipt/)
    assert.match(
      page,
      /<a data-proof href="\/api\/v1\/log\/proof\/11" class="button" download>Save the proof/,
    )
  })

  test('links the previous and the next event', async () => {
    const page = await pageAt(4)
    assert.match(page, /rel="prev" href="\/events\/3"/)
    assert.match(page, /rel="next" href="\/events\/5"/)
    assert.doesNotMatch(await pageAt(1), /rel="prev"/)
  })

  test('links no event that is not published yet', async () => {
    const page = await pageAt(9)
    assert.doesNotMatch(page, /rel="next"|\/events\/10/)
    assert.match(textOf(page), /It was the newest event when this page was made\./)
  })

  test('is revalidated, and sent again once it is corrected', async () => {
    await using own = await openApiStage({ story: STORY.slice(0, 4) })
    const first = await own.get('/events/4')
    assert.equal(first.headers.get('cache-control'), REVALIDATE)
    assert.match(await first.text(), /Never, up to event/)
    const held = { 'If-None-Match': first.headers.get('etag') ?? '' }
    assert.equal((await own.get('/events/4', held)).status, 304)
    own.append(STORY.slice(4, 6))
    const second = await own.get('/events/4', held)
    assert.equal(second.status, 200)
    assert.match(await second.text(), /Cancelled by/)
  })
})
