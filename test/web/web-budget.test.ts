import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parseDraftPrice } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS, msOf } from '../../src/protocol/moment.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { LAUNCH, plan, type StoryEvent } from '../story/api-story.ts'

const BYTES_MAX = 30 * 1024
/** Elements of a page. A phone takes longer to lay out more. */
const ELEMENTS_MAX = 2_000
/** Elements of a page with a table of the 240 rows that a reader asked for. */
const ASKED_ELEMENTS_MAX = 4_500
const DAYS = 90
/** Events of one round of the story. A round takes an hour, so that no hour of the ninety days is empty. */
const ROUND = 5
const SHOWN_MAX = 1_500

/** Amounts with varied digits as on a busy platform, since zeros compress to nothing. */
function amounts(): () => string {
  let state = 1
  const digits = (): string => {
    state = (state * 48_271) % 2_147_483_647
    return String(state).padStart(9, '0').slice(-9)
  }
  return () => `${1_000 + Number(digits().slice(0, 4))}.${digits()}`
}

/** A price with all its decimals. */
function priced(digits: string): Details {
  const price = parseDraftPrice(`0.${digits.replace('.', '').slice(0, 12)}`)
  assert.ok(price !== undefined)
  return { price }
}

/** Ninety days with plays, prizes, payouts, burns and prices every hour. */
function ninetyDays(): readonly StoryEvent[] {
  const amount = amounts()
  const round = (): readonly StoryEvent[] => {
    const won = amount()
    return [
      { type: 'play', kind: 'entry', contestId: 1, kots: amount() },
      { type: 'prize', kind: 'winner', contestId: 1, kots: won },
      { type: 'payout', kind: 'winner', contestId: 1, kots: won, tx: `transaction-${amount()}` },
      { type: 'burn', kind: 'platform_income', kots: amount() },
      { type: 'price', kind: 'usd', details: priced(amount()) },
    ]
  }
  return [
    { type: 'treasury', kind: 'deposit', kots: '1000000000' },
    plan(1, 'A long one', HOUR_MS),
    { type: 'contest', kind: 'opened', contestId: 1 },
    { type: 'pool', kind: 'top_up', contestId: 1, kots: '100000000' },
    ...Array.from({ length: 20 }, (_, index) =>
      plan(index + 2, `Contest of the week ${index}`, DAYS * DAY_MS),
    ),
    ...Array.from({ length: DAYS * 24 }, round).flat(),
  ]
}

let stage: ApiStage
before(async () => {
  const story = ninetyDays()
  const apartMs = HOUR_MS / ROUND
  stage = await openApiStage({ story, apartMs })
  stage.setNow(msOf(LAUNCH + story.length * apartMs + MINUTE_MS))
})
after(() => stage[Symbol.asyncDispose]())

const at = (ms: number): string => formatAt(msOf(ms))

suite('a page of a log with ninety busy days has at most 30 KiB compressed, and few elements', () => {
  const hours = `from=${at(LAUNCH)}&to=${at(LAUNCH + SHOWN_MAX * HOUR_MS)}&bucket=hour`
  const minutes = `from=${at(LAUNCH + DAY_MS)}&to=${at(LAUNCH + DAY_MS + SHOWN_MAX * MINUTE_MS)}&bucket=minute`
  const days = `from=${at(LAUNCH)}&to=${at(LAUNCH + DAYS * DAY_MS)}&bucket=day`
  const wholeHours = `from=${at(LAUNCH)}&to=${at(LAUNCH + 240 * HOUR_MS)}&bucket=hour`
  const ranges = [hours, minutes, days, wholeHours]
  for (const address of [
    '/',
    '/summary',
    '/contests',
    '/contests/1/ledger',
    '/payouts',
    '/schedule',
    '/patterns',
    '/archive',
    '/stream',
    '/events?limit=500',
    '/flows',
    '/funds',
    ...ranges.map((range) => `/flows?${range}`),
    ...ranges.map((range) => `/funds?${range}`),
  ]) {
    test(address, async () => {
      const page = await (await stage.get(address)).text()
      const bytes = gzipSync(page, { level: 9 }).length
      assert.ok(bytes <= BYTES_MAX, `${bytes} bytes`)
      const elements = page.match(/<[a-z]/g)?.length ?? 0
      const elementsMax = address.includes('?') ? ASKED_ELEMENTS_MAX : ELEMENTS_MAX
      assert.ok(elements <= elementsMax, `${elements} elements`)
    })
  }
})
