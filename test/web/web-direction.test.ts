import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { LAUNCH, plan, type StoryEvent } from '../story/api-story.ts'

/** Title of an old store; admission refuses it today. */
const TURNED = 'Autumn\u202E round\u2069'
const HEBREW = 'סיבוב הסתיו'
const STORY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '1000' },
  plan(12, TURNED, HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 12 },
  { type: 'pool', kind: 'top_up', contestId: 12, kots: '500' },
  { type: 'contest', kind: 'closed', contestId: 12 },
  { type: 'prize', kind: 'winner', contestId: 12, kots: '60', details: { unlocksAt: LAUNCH } },
  { type: 'hold', kind: 'winner', contestId: 12, details: { reviewUntil: LAUNCH } },
  plan(34, TURNED, 50 * HOUR_MS),
  plan(56, HEBREW, 60 * HOUR_MS),
  plan(78, HEBREW, HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: 78 },
  { type: 'play', kind: 'entry', contestId: 78, kots: '5' },
  { type: 'pool', kind: 'top_up', contestId: 78, kots: '100' },
  { type: 'contest', kind: 'closed', contestId: 78 },
  { type: 'prize', kind: 'winner', contestId: 78, kots: '60', details: { unlocksAt: LAUNCH } },
  plan(90, HEBREW, HOUR_MS),
  { type: 'contest', kind: 'cancelled', contestId: 90, details: { reason: HEBREW } },
]
const PLACES = [
  '/',
  '/summary',
  '/contests',
  '/contests/12/ledger',
  '/contests/34/ledger',
  '/payouts',
  '/schedule',
  '/stream',
  '/payouts?contestId=12',
  '/events',
  '/events/2',
  '/feed.atom',
  '/schedule.svg',
  '/schedule.ics',
  '/payouts.ics',
  '/contests/12/ledger.svg',
  '/find?q=12',
  '/api/v1/schedule.ics',
  '/payouts.svg',
]

suite('a title with right-to-left marks', () => {
  test('does not affect other text on pages, pictures, feeds and calendars', async () => {
    await using stage = await openApiStage({ story: STORY })
    for (const path of PLACES) {
      const response = await stage.get(path)
      assert.equal(response.status, 200, path)
      const text = (await response.text())
        // The JSON of the API escapes the marks.
        .replaceAll(/<pre[^]*?<\/pre>/g, '')
        .replaceAll('\r\n ', '')
      assert.doesNotMatch(text, /[\u202A-\u202E]/, path)
      const opened = text.split('\u2068').length
      assert.equal(text.split('\u2069').length, opened, `${path} closes each isolate`)
    }
  })

  test('is isolated in every place: in an element of its own, or between marks', async () => {
    await using stage = await openApiStage({ story: STORY })
    let shown = 0
    for (const path of [...PLACES, '/contests/78/ledger', '/contests/90/ledger', '/events/9', '/find?q=78']) {
      const text = (await (await stage.get(path)).text())
        .replaceAll(/<pre[^]*?<\/pre>|<script type="application[^]*?<\/script>/g, '')
        .replaceAll('\r\n ', '')
      for (const { index } of text.matchAll(new RegExp(HEBREW.slice(0, 5), 'g'))) {
        shown++
        const before = text.slice(Math.max(0, index - 5), index)
        assert.ok(
          // An option of a list stands alone.
          before.endsWith('\u2068') ||
            before === '<bdi>' ||
            /<option value="(?:[^"]*">)?$/.test(text.slice(0, index)),
          `${path}: ${text.slice(index - 60, index + 20)}`,
        )
      }
    }
    assert.ok(shown > 20, `${shown} titles`)
  })

  test('is in a separate element, without its number', async () => {
    await using stage = await openApiStage({ story: STORY })
    const contests = await (await stage.get('/contests')).text()
    assert.match(contests, /<a href="\/contests\/34\/ledger"><bdi>Autumn round<\/bdi><\/a>/)
    assert.match(await (await stage.get('/schedule')).text(), /<bdi>סיבוב הסתיו<\/bdi>/)
    assert.match(await (await stage.get('/events/2')).text(), /<bdi>Autumn round<\/bdi>/)
    assert.match(await (await stage.get('/feed.atom')).text(), /\u2068סיבוב הסתיו\u2069 \(contest 56\)/)
    assert.match(
      await (await stage.get('/contests/56/ledger')).text(),
      /<h1 class="name"><bdi>סיבוב הסתיו<\/bdi><\/h1>/,
    )
  })
})
