import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH, plan, type StoryEvent } from '../../../test/story/api-story.ts'
import { HOUR_MS, msOf, parseMonth } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'

const month = parseMonth('2026-10')
const monthOfRun = month === undefined ? {} : { month }
const trade: StoryEvent = { type: 'trade', kind: 'buy', kots: '1' }
const burn: StoryEvent = { type: 'burn', kind: 'platform_income', kots: '1' }
/** In the stage's story contest 1 is paying and contest 2 is upcoming. */
const sponsor = (contestId: number): StoryEvent => ({ type: 'pool', kind: 'sponsor', contestId, kots: '5' })
const prize: StoryEvent = { type: 'prize', kind: 'winner', contestId: 1, kots: '1' }
const hold: StoryEvent = {
  type: 'hold',
  kind: 'winner',
  contestId: 1,
  details: { reviewUntil: msOf(LAUNCH + HOUR_MS) },
}
const restated: StoryEvent = {
  type: 'play',
  kind: 'vote',
  contestId: 1,
  kots: '2',
  details: { restates: seqOf(5) },
}
const corrected: StoryEvent = {
  type: 'correction',
  kind: 'play',
  contestId: 1,
  kots: '-2.25',
  details: { corrects: seqOf(5) },
}
const entry: StoryEvent = { type: 'play', kind: 'entry', contestId: 1, kots: '1' }

/** For each answer, events that leave it unchanged, and events that each change it. */
const ANSWERS: readonly (readonly [
  path: string,
  elsewhere: readonly StoryEvent[],
  changing: readonly StoryEvent[],
])[] = [
  ['/contests/1', [trade, sponsor(2), plan(3, 'Third', 0)], [sponsor(1), corrected, hold]],
  ['/contests/1/ledger', [trade, sponsor(2), burn], [sponsor(1), prize]],
  ['/contests/1/ledger?limit=1', [trade, sponsor(2)], [corrected]],
  ['/contests', [trade, burn], [sponsor(2), corrected, plan(3, 'Third', 0), { ...hold, contestId: 99 }]],
  ['/contests?status=paid', [trade, burn], [sponsor(2)]],
  ['/payouts', [trade, sponsor(2), entry], [prize, hold, { ...prize, type: 'expiry' }]],
  ['/payouts?contestId=1', [trade, { ...prize, contestId: 2 }], [prize, hold]],
  ['/payouts?contestId=1&limit=1', [trade, entry], [prize]],
  ['/payouts?contestId=1,9&kind=winner', [trade, entry], [prize, { ...prize, contestId: 9 }]],
  ['/waits', [trade, entry, sponsor(1), hold], [prize, { ...prize, type: 'expiry' }]],
  ['/payouts?contestId=9', [trade, prize, entry], [{ ...prize, contestId: 9 }]],
  [
    '/schedule',
    [trade, sponsor(1), entry, prize],
    [
      plan(3, 'Third', 0),
      { type: 'loyalty', kind: 'scheduled', details: { ...monthOfRun, paysAt: LAUNCH } },
      // The first event of a contest that was never scheduled, which `--balances report` publishes.
      sponsor(99),
      { ...entry, contestId: 98 },
    ],
  ],
  ['/schedule.ics', [trade, prize], [{ type: 'contest', kind: 'opened', contestId: 2 }, sponsor(99)]],
  [
    '/loyalty/runs',
    [trade, prize, plan(3, 'Third', 0)],
    [{ type: 'loyalty', kind: 'scheduled', details: { ...monthOfRun, paysAt: LAUNCH } }],
  ],
  ['/event-types', [burn, entry], [trade]],
  ['/events/5/corrections', [trade, entry], [corrected, restated]],
  ['/events?contestId=2', [trade, entry], [sponsor(2)]],
  ['/events?type=burn,price', [trade, entry], [burn]],
  ['/events?type=play&contestId=1', [trade, sponsor(1)], [entry]],
  ['/events?type=play&contestId=1&limit=9', [trade, sponsor(2)], [entry]],
  ['/events?kind=entry&format=csv', [trade, prize], [entry]],
  ['/archive/SHA256SUMS', [trade, entry], []],
]

/** Answers that any event may change. */
const OF_THE_HEAD = ['/summary', '/events', '/events?contestId=2&order=desc', '/archive', '/status'] as const

async function etagOf(stage: ApiStage, path: string): Promise<string> {
  return (await stage.get(`/api/v1${path}`)).headers.get('etag') ?? ''
}

suite('the ETag of an answer changes only with the events that the answer depends on', () => {
  for (const [path, elsewhere, changing] of ANSWERS) {
    test(`${path} keeps its ETag after other events, and names the new head`, async () => {
      await using stage = await openApiStage()
      const before = await stage.get(`/api/v1${path}`)
      const tag = before.headers.get('etag') ?? ''
      const shown = stableOf(await before.text())
      for (const event of elsewhere) {
        stage.append([event])
        const response = await stage.get(`/api/v1${path}`, { 'If-None-Match': tag })
        assert.equal(response.status, 304, `after ${event.type}/${event.kind}`)
        const head = stage.reader.head().seq
        assert.equal(response.headers.get('daybook-seq'), String(head))
        const whole = await stage.get(`/api/v1${path}`)
        // Without `If-None-Match` the answer is as of the head and has the same content.
        assert.equal(whole.headers.get('daybook-seq'), String(head))
        assert.equal(whole.headers.get('etag'), tag)
        assert.equal(stableOf(await whole.text()), shown)
      }
      for (const event of changing) {
        const former = await etagOf(stage, path)
        stage.append([event])
        const response = await stage.get(`/api/v1${path}`, { 'If-None-Match': former })
        assert.equal(response.status, 200, `after ${event.type}/${event.kind}`)
        assert.notEqual(response.headers.get('etag'), former)
      }
    })
  }

  test('/waits changes its ETag with the first event of the log, which is the launch', async () => {
    await using stage = await openApiStage({ story: [] })
    const former = await etagOf(stage, '/waits')
    stage.append([trade])
    assert.notEqual(await etagOf(stage, '/waits'), former)
  })

  for (const path of OF_THE_HEAD) {
    test(`${path} changes its ETag with each event`, async () => {
      await using stage = await openApiStage()
      const former = await etagOf(stage, path)
      stage.append([trade])
      assert.notEqual(await etagOf(stage, path), former)
    })
  }
})

/** An answer without the parts that only say how long the log is. */
function stableOf(body: string): string {
  return body
    .replace(/"asOf":\{[^}]*\}/, '')
    .replace(/"scannedTo":\d+/, '')
    .replaceAll(/DTSTAMP:\w+/g, '')
}
