import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ApiStage, Told } from '../../../test/stage/api-stage.ts'
import { LAUNCH, openApiStage, plan } from '../../../test/stage/api-stage.ts'
import { HOUR_MS, msOf, parseMonth } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'

const month = parseMonth('2026-10')
const monthOfRun = month === undefined ? {} : { month }
const trade: Told = { type: 'trade', kind: 'buy', kots: '1' }
const burn: Told = { type: 'burn', kind: 'platform_income', kots: '1' }
/** Of the stage's story: contest 1 pays, contest 2 is upcoming. */
const sponsor = (contestId: number): Told => ({ type: 'pool', kind: 'sponsor', contestId, kots: '5' })
const prize: Told = { type: 'prize', kind: 'winner', contestId: 1, kots: '1' }
const hold: Told = {
  type: 'hold',
  kind: 'winner',
  contestId: 1,
  details: { reviewUntil: msOf(LAUNCH + HOUR_MS) },
}
const restated: Told = {
  type: 'play',
  kind: 'vote',
  contestId: 1,
  kots: '2',
  details: { restates: seqOf(5) },
}
const corrected: Told = {
  type: 'correction',
  kind: 'play',
  contestId: 1,
  kots: '-2.25',
  details: { corrects: seqOf(5) },
}
const entry: Told = { type: 'play', kind: 'entry', contestId: 1, kots: '1' }

/** Of each answer, events elsewhere that leave it as it is, and events that each change it. */
const ANSWERS: readonly (readonly [path: string, elsewhere: readonly Told[], changing: readonly Told[]])[] = [
  ['/contests/1', [trade, sponsor(2), plan(3, 'Third', 0)], [sponsor(1), corrected, hold]],
  ['/contests/1/ledger', [trade, sponsor(2), burn], [sponsor(1), prize]],
  ['/contests/1/ledger?limit=1', [trade, sponsor(2)], [corrected]],
  ['/contests', [trade, burn], [sponsor(2), corrected, plan(3, 'Third', 0)]],
  ['/contests?status=paid', [trade, burn], [sponsor(2)]],
  ['/payouts', [trade, sponsor(2), entry], [prize, hold, { ...prize, type: 'expiry' }]],
  ['/payouts?contestId=1', [trade, { ...prize, contestId: 2 }], [prize, hold]],
  ['/payouts?contestId=1&limit=1', [trade, entry], [prize]],
  ['/payouts?contestId=9', [trade, prize, entry], [{ ...prize, contestId: 9 }]],
  [
    '/schedule',
    [trade, sponsor(1), entry, prize],
    [plan(3, 'Third', 0), { type: 'loyalty', kind: 'scheduled', details: { ...monthOfRun, paysAt: LAUNCH } }],
  ],
  ['/schedule.ics', [trade, prize], [{ type: 'contest', kind: 'opened', contestId: 2 }]],
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

/** Answers that every event changes, or may. */
const OF_THE_HEAD = ['/summary', '/events', '/events?contestId=2&order=desc', '/archive', '/status'] as const

async function etagOf(stage: ApiStage, path: string): Promise<string> {
  return (await stage.get(`/api/v1${path}`)).headers.get('etag') ?? ''
}

suite('the ETag of an answer names what the answer depends on', () => {
  for (const [path, elsewhere, changing] of ANSWERS) {
    test(`${path} is unchanged after events elsewhere, and says up to where`, async () => {
      await using stage = await openApiStage()
      const before = await stage.get(`/api/v1${path}`)
      const tag = before.headers.get('etag') ?? ''
      const shown = stableOf(await before.text())
      for (const event of elsewhere) {
        stage.tell([event])
        const response = await stage.get(`/api/v1${path}`, { 'If-None-Match': tag })
        assert.equal(response.status, 304, `after ${event.type}/${event.kind}`)
        const head = stage.reader.head().seq
        assert.equal(response.headers.get('daybook-seq'), String(head))
        const whole = await stage.get(`/api/v1${path}`)
        // Who asks without the ETag is told as of the head, in an answer that says the same.
        assert.equal(whole.headers.get('daybook-seq'), String(head))
        assert.equal(whole.headers.get('etag'), tag)
        assert.equal(stableOf(await whole.text()), shown)
      }
      for (const event of changing) {
        const former = await etagOf(stage, path)
        stage.tell([event])
        const response = await stage.get(`/api/v1${path}`, { 'If-None-Match': former })
        assert.equal(response.status, 200, `after ${event.type}/${event.kind}`)
        assert.notEqual(response.headers.get('etag'), former)
      }
    })
  }

  for (const path of OF_THE_HEAD) {
    test(`${path} is another after each event`, async () => {
      await using stage = await openApiStage()
      const former = await etagOf(stage, path)
      stage.tell([trade])
      assert.notEqual(await etagOf(stage, path), former)
    })
  }
})

/** An answer without what says only how far the log has come. */
function stableOf(body: string): string {
  return body
    .replace(/"asOf":\{[^}]*\}/, '')
    .replace(/"scannedTo":\d+/, '')
    .replaceAll(/DTSTAMP:\w+/g, '')
}
