import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { CORRECTABLE_TYPES, EVENT_TYPES, RULES } from '../src/protocol/rules.ts'
import { DAY_MS, HOUR_MS, msOf } from '../src/protocol/moment.ts'
import { type Auditor, openAuditor } from '../test/oracle/draft-auditor.ts'
import { history, HISTORY_MS, type HistorySettings } from './history.ts'
import type { ImportDraft } from './import-draft.ts'

const TO = Date.UTC(2026, 10, 21, 9, 17, 3, 250)
const MONTHS: HistorySettings = { seed: 'kots', from: msOf(TO - HISTORY_MS), to: msOf(TO) }
/** Seeds of three months each. A campaign has more. */
const SEEDS = process.env['DAYBOOK_CAMPAIGN'] === undefined ? ['kots'] : ['kots', 'a', 'b', 'c', '2026']
const drafts: readonly ImportDraft[] = [...history(MONTHS)]
const billionths = (draft: ImportDraft): bigint => BigInt((draft.kots ?? '0').replace('.', ''))

function audited(taken: Iterable<ImportDraft>): Auditor {
  const auditor = openAuditor()
  for (const draft of taken) auditor.take(draft)
  return auditor
}

suite('the history of the simulated platform', () => {
  test('is the same for the same settings, and different for another seed', () => {
    const short = { ...MONTHS, to: msOf(MONTHS.from + 8 * DAY_MS) }
    assert.deepEqual([...history(short)], [...history(short)])
    assert.notDeepEqual([...history(short)], [...history({ ...short, seed: 'other' })])
  })

  test('begins exactly at its first moment and ends before its last', () => {
    assert.equal(Date.parse(drafts[0]?.at ?? ''), MONTHS.from)
    assert.ok(Date.parse(drafts.at(-1)?.at ?? '') < TO)
    assert.ok(Date.parse(drafts.at(-1)?.at ?? '') > TO - HOUR_MS)
  })

  test('of a shorter range is the beginning of that of a longer one', () => {
    const short = [...history({ ...MONTHS, to: msOf(MONTHS.from + 5 * DAY_MS) })]
    assert.deepEqual(short, drafts.slice(0, short.length))
  })

  test('of three months has 40,000 to 80,000 drafts', () => {
    assert.ok(drafts.length > 40_000 && drafts.length < 80_000, `${drafts.length} drafts`)
  })

  for (const seed of SEEDS) {
    test(`keeps every rule of the log and has every kind of event within three months (seed ${seed})`, () => {
      const { counts, balances } = audited(seed === MONTHS.seed ? drafts : history({ ...MONTHS, seed }))
      for (const type of EVENT_TYPES) {
        assert.ok(
          [...counts.keys()].some((name) => name.startsWith(`${type}/`)),
          `no ${type}`,
        )
      }
      for (const { type, kind } of RULES) {
        if (kind === '*' || type === 'correction') continue
        assert.ok((counts.get(`${type}/${kind}`) ?? 0) > 0, `no ${type}/${kind}`)
      }
      for (const kind of ['play', 'payout', 'price', 'trade', 'burn'] as const) {
        assert.ok(CORRECTABLE_TYPES.includes(kind))
        assert.ok((counts.get(`correction/${kind}`) ?? 0) > 0, `no correction/${kind}`)
      }
      for (const kind of ['vote', 'entry', 'boost', 'tip'])
        assert.ok((counts.get(`play/${kind}`) ?? 0) > 1000)
      assert.equal(
        [...balances.values()].reduce((sum, balance) => sum + balance, 0n),
        0n,
      )
    })
  }

  for (const [scale, days] of [
    [0.01, 60],
    [0.3, 20],
    [4, 5],
    [60, 1],
  ] as const) {
    test(`keeps every rule at scale ${scale}`, () => {
      audited(history({ ...MONTHS, seed: 'scale', to: msOf(MONTHS.from + days * DAY_MS), scale }))
    })
  }

  test('restates some of the events that it corrects', () => {
    const restated = drafts.filter((draft) => draft.details?.restates !== undefined)
    assert.ok(restated.length > 10)
    assert.ok(new Set(restated.map((draft) => draft.type)).size > 2)
  })

  test('has contests that announce no end, get the right title, and pay while they run', () => {
    const open = drafts.filter(
      ({ type, kind, details }) =>
        type === 'contest' && kind === 'scheduled' && details?.closesAt === undefined,
    )
    assert.equal(open.length, 2)
    for (const { contestId } of open) {
      const own = drafts.filter((draft) => draft.contestId === contestId)
      const end = own.findIndex(({ type, kind }) => type === 'contest' && kind === 'closed')
      const running = end < 0 ? own : own.slice(0, end)
      for (const name of ['contest/renamed', 'prize/daily', 'payout/daily', 'expiry/daily'])
        assert.ok(
          running.some(({ type, kind }) => `${type}/${kind}` === name),
          `${contestId}: ${name}`,
        )
    }
  })

  test('has contests that overlap', () => {
    let most = 0
    let running = 0
    for (const draft of drafts) {
      if (draft.type !== 'contest') continue
      if (draft.kind === 'opened') running++
      if (draft.kind === 'closed' || (draft.kind === 'cancelled' && running > 0)) running--
      most = Math.max(most, running)
    }
    assert.ok(most >= 4, `${most} at once`)
  })
})

suite('the activity of players', () => {
  const plays = drafts.filter((draft) => draft.type === 'play')
  const spentWhen = (matches: (at: Date) => boolean): bigint =>
    plays.filter((draft) => matches(new Date(draft.at))).reduce((sum, draft) => sum + billionths(draft), 0n)

  test('is higher in the evening than at night', () => {
    const evening = spentWhen((at) => at.getUTCHours() >= 18 && at.getUTCHours() < 21)
    const night = spentWhen((at) => at.getUTCHours() >= 5 && at.getUTCHours() < 8)
    assert.ok(evening > 2n * night, `${evening} against ${night}`)
  })

  test('is higher on a day of the weekend than on a weekday', () => {
    const weekend = spentWhen((at) => at.getUTCDay() % 6 === 0) / 2n
    const weekday = spentWhen((at) => at.getUTCDay() % 6 !== 0) / 5n
    assert.ok(weekend * 100n > weekday * 115n, `${weekend} against ${weekday}`)
  })

  test('grows over the months', () => {
    const during = (from: number, to: number): bigint =>
      spentWhen(
        (at) => at.getTime() >= MONTHS.from + from * DAY_MS && at.getTime() < MONTHS.from + to * DAY_MS,
      )
    assert.ok(during(63, 91) * 10n > during(7, 35) * 12n)
  })
})

test('the committed sample is the output of the simulator, byte for byte', () => {
  // Thirty-seven days over a turn of the month, at a small scale.
  const from = Date.UTC(2026, 6, 20)
  const settings = { seed: 'sample', from: msOf(from), to: msOf(from + 37 * DAY_MS), scale: 0.04 }
  const text = [...history(settings)].map((draft) => `${JSON.stringify(draft)}\n`).join('')
  assert.ok(text.length <= 400_000)
  assert.equal(readFileSync(new URL('../test/sample/sample.drafts.jsonl', import.meta.url), 'utf8'), text)
  const auditor = openAuditor()
  for (const line of text.trimEnd().split('\n')) auditor.take(JSON.parse(line) as ImportDraft)
})
