import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage, StoryEvent } from '../../../../test/stage/api-stage.ts'
import { openApiStage, plan } from '../../../../test/stage/api-stage.ts'
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

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ story: STORY })
})
after(() => stage[Symbol.asyncDispose]())

const textOf = (page: string): string =>
  (/<h1>([^]*)<\/main>/.exec(page)?.[1] ?? '')
    .replaceAll(/<section class="bar"[^]*?<\/section>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,:)])/g, '')
    .trim()

const pageAt = async (seq: number): Promise<string> => (await stage.get(`/events/${seq}`)).text()

suite('the page of an event', () => {
  test('names the events that corrected and replaced it, under its heading', async () => {
    assert.match(
      textOf(await pageAt(4)),
      /^Event #4 Corrected by event #5: its amount counts no longer. Replaced by event #6\. /,
    )
  })

  test('names no replacement if there is none', async () => {
    const text = textOf(await pageAt(7))
    assert.match(text, /^Event #7 Corrected by event #8: its amount counts no longer\. /)
    assert.doesNotMatch(text, /Replaced by/)
  })

  test('says up to which event it is not corrected', async () => {
    for (const seq of [1, 2, 5, 6, 9]) {
      const page = await pageAt(seq)
      assert.doesNotMatch(page, /class="banner bad"|Corrected by/)
      assert.match(textOf(page), /Not corrected up to event #9\./)
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

  test('begins with a sentence about what happened', async () => {
    assert.match(textOf(await pageAt(6)), /1\.300000000 KOTS were spent on 2 plays \(entry\) in contest 5 on/)
    assert.match(textOf(await pageAt(6)), /It takes the place of event #4\./)
    assert.match(
      textOf(await pageAt(8)),
      /Takes back event #7, of type burn, on [^.]*: it counts -7\.000000000 KOTS/,
    )
  })

  test('links the previous and the next event', async () => {
    const page = await pageAt(4)
    assert.match(page, /<a rel="prev" href="\/events\/3">Event #3<\/a>/)
    assert.match(page, /<a rel="next" href="\/events\/5">Event #5<\/a>/)
    assert.doesNotMatch(await pageAt(1), /rel="prev"/)
  })

  test('links no event that is not published yet', async () => {
    const page = await pageAt(9)
    assert.doesNotMatch(page, /rel="next"|\/events\/10/)
    assert.match(textOf(page), /The next event appears here/)
  })

  test('is revalidated, and sent again once it is corrected', async () => {
    await using own = await openApiStage({ story: STORY.slice(0, 4) })
    const first = await own.get('/events/4')
    assert.equal(first.headers.get('cache-control'), REVALIDATE)
    assert.match(await first.text(), /Not corrected up to event/)
    const held = { 'If-None-Match': first.headers.get('etag') ?? '' }
    assert.equal((await own.get('/events/4', held)).status, 304)
    own.append(STORY.slice(4, 6))
    const second = await own.get('/events/4', held)
    assert.equal(second.status, 200)
    assert.match(await second.text(), /Corrected by/)
  })
})
