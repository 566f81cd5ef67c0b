import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, type Ms, msOf, SECOND_MS } from '../src/protocol/moment.ts'
import { openAuditor } from '../test/oracle/draft-auditor.ts'
import { endlessDrafts, history, type HistorySettings } from './history.ts'
import { type ImportDraft, isFailing, type PublishDraft, refOf } from './import-draft.ts'
import { CATCH_UP_MS_MAX, liveDrafts, publishOnTime, type ScheduledDraft, type SendResult } from './live.ts'

const FROM = Date.UTC(2026, 8, 14, 10)
const TO = FROM + 14 * DAY_MS
const PAST: HistorySettings = { seed: 'live', from: msOf(FROM), to: msOf(TO) }
/** Delay with which the timer of the test wakes. */
const LATE_MS = 7 * SECOND_MS
/** Drafts after the history that are audited. */
const DRAFTS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 20_000)
const published = [...history(PAST)].length

function take(dues: Iterable<ScheduledDraft>, count: number): ScheduledDraft[] {
  const taken: ScheduledDraft[] = []
  for (const due of dues) if (taken.push(due) === count) break
  return taken
}

suite('live drafts', () => {
  test('continue where the history ends, without gaps or repeats', () => {
    const dues = take(liveDrafts({ ...PAST, published, now: () => msOf(TO) }), 500)
    const refs = dues.map(({ draft }) => draft.ref)
    assert.deepEqual(
      refs,
      Array.from(refs, (_, index) => `sim-${String(published + 1 + index).padStart(8, '0')}`),
    )
    assert.ok((dues[0]?.dueAt ?? 0) >= TO)
    assert.ok(dues.every(({ draft }) => !('at' in draft)))
  })

  test('come every few seconds', () => {
    const dues = take(liveDrafts({ ...PAST, published, now: () => msOf(TO) }), 8_000).slice(1000)
    const mean = ((dues.at(-1)?.dueAt ?? 0) - (dues[0]?.dueAt ?? 0)) / dues.length
    assert.ok(mean > SECOND_MS && mean < 10 * SECOND_MS, `one in ${mean} ms`)
  })

  test('begin without a silence and spend as much as the history', () => {
    const spentBetween = (from: number, to: number): number => {
      let spent = 0
      for (const draft of endlessDrafts(PAST)) {
        const ms = Date.parse(draft.at)
        if (ms >= to) break
        if (ms >= from && draft.type === 'play') spent += Number(draft.kots)
      }
      return spent
    }
    const [first] = take(liveDrafts({ ...PAST, published, now: () => msOf(TO) }), 1)
    assert.ok((first?.dueAt ?? 0) < TO + MINUTE_MS)
    const ratio = spentBetween(TO, TO + 7 * DAY_MS) / spentBetween(TO - 7 * DAY_MS, TO)
    assert.ok(ratio > 0.7 && ratio < 1.5, `${ratio} times as much`)
  })

  test('keep every rule of the log', () => {
    const auditor = openAuditor()
    let count = 0
    for (const draft of endlessDrafts(PAST)) {
      auditor.take(draft)
      if (++count === published + DRAFTS) break
    }
    assert.ok((auditor.counts.get('correction/play') ?? 0) > 0)
  })

  test('send each payout that fails on the chain again, and keep every rule without the failed ones', () => {
    const auditor = openAuditor()
    const paying = new Set<number>()
    const failed = new Map<string, ImportDraft>()
    let sentAgain = 0
    let failures = 0
    let count = 0
    for (const draft of endlessDrafts({ ...PAST, failedOneIn: 20 })) {
      const { type, kind, contestId = 0, kots, tx = '' } = draft
      const content = `${kind} ${contestId} ${kots}`
      const before = failed.get(content)
      if (type === 'payout' && before !== undefined) {
        failed.delete(content)
        assert.notEqual(draft.ref, before.ref)
        assert.notEqual(tx, before.tx)
        assert.ok(Date.parse(draft.at) > Date.parse(before.at))
        sentAgain++
      }
      if (isFailing(tx)) {
        assert.equal(type, 'payout')
        failures++
        failed.set(content, draft)
      }
      if (kind === 'closed' || kind === 'cancelled') paying.add(contestId)
      if (type === 'contest' && kind === 'paid') paying.delete(contestId)
      // A failed payout posts nothing, as a trade. The number of each draft stays the same.
      auditor.take(
        isFailing(tx)
          ? { ref: draft.ref, at: draft.at, type: 'trade', kind: 'buy', kots: '1.000000000', tx }
          : draft,
      )
      if (++count === published + DRAFTS) break
    }
    assert.ok(failures > 5, `${failures} payouts failed`)
    assert.equal(sentAgain, failures - failed.size)
    assert.ok(failed.size <= 1)
    assert.ok(paying.size < 10, 'contests are paid in the end')
  })

  test('continue with the next draft after a restart', () => {
    const now = (): Ms => msOf(TO)
    const whole = take(liveDrafts({ ...PAST, published, now }), 300)
    assert.deepEqual(take(liveDrafts({ ...PAST, published: published + 120, now }), 180), whole.slice(120))
  })

  test('keep their planned moments after a short stop', () => {
    const now = msOf(TO + CATCH_UP_MS_MAX)
    const [due] = take(liveDrafts({ ...PAST, published, now: () => now }), 1)
    const [planned] = take(liveDrafts({ ...PAST, published, now: () => msOf(TO) }), 1)
    assert.deepEqual(due, planned)
  })

  test('move to later moments after a long stop, with the moments in their details', () => {
    const stop = 2 * DAY_MS + 3 * HOUR_MS
    const planned = take(liveDrafts({ ...PAST, published, now: () => msOf(TO) }), 8_000)
    const moved = take(liveDrafts({ ...PAST, published, now: () => msOf(TO + stop) }), 8_000)
    const shift = (moved[0]?.dueAt ?? 0) - (planned[0]?.dueAt ?? 0)
    assert.equal(shift % MINUTE_MS, 0)
    const wait = (moved[0]?.dueAt ?? 0) - (TO + stop)
    assert.ok(wait <= 0 && wait > -MINUTE_MS, `due ${wait} ms from now`)
    let seen = 0
    moved.forEach(({ draft, dueAt }, index) => {
      const before = planned[index]
      assert.equal(dueAt - (before?.dueAt ?? 0), shift)
      for (const field of ['opensAt', 'closesAt', 'unlocksAt', 'reviewUntil'] as const) {
        const was = before?.draft.details?.[field]
        if (was === undefined) continue
        seen++
        assert.equal(Date.parse(String(draft.details?.[field])) - Date.parse(String(was)), shift)
      }
    })
    assert.ok(seen > 0)
  })
})

suite('publishing on time', () => {
  test('sends each draft at its moment', async () => {
    let now = TO
    const sent: { at: number; ref: string }[] = []
    const stop = new AbortController()
    const api = {
      now: () => msOf(now),
      seqOf: (number: number) => number,
      async send({ ref }: PublishDraft) {
        if (sent.push({ at: now, ref }) === 400) stop.abort()
        return 'accepted' as const
      },
      skip: () => assert.fail('no draft is refused'),
      async until(moment: Ms) {
        now = Math.max(now, moment) + LATE_MS
      },
    }
    await publishOnTime(liveDrafts({ ...PAST, published, now: api.now }), api, stop.signal)
    const due = take(liveDrafts({ ...PAST, published, now: () => msOf(TO) }), sent.length)
    assert.deepEqual(
      sent.map(({ ref }) => ref),
      due.map(({ draft }) => draft.ref),
    )
    sent.forEach(({ at }, index) => {
      const late = at - (due[index]?.dueAt ?? 0)
      assert.ok(late >= 0 && late <= LATE_MS, `published ${late} ms after its time`)
    })
  })

  /** Drives drafts that are all due. The log gives each draft that it takes a seq seven beyond its number. */
  async function driven(
    drafts: readonly PublishDraft[],
    answer: (draft: PublishDraft, turn: number, waitedMs: number) => SendResult = () => 'accepted',
  ) {
    let now = TO
    const seen = { sent: [] as PublishDraft[], skipped: [] as string[] }
    const inLog = new Set<string>()
    const api = {
      now: () => msOf(now),
      until: async (moment: Ms) => void (now = moment),
      seqOf: (number: number) => (inLog.has(refOf(number)) ? number + 7 : undefined),
      async send(draft: PublishDraft) {
        const result = answer(draft, seen.sent.push(draft), now - TO)
        if (result === 'accepted') inLog.add(draft.ref)
        return result
      },
      skip: ({ ref }: PublishDraft, reason: string) => void seen.skipped.push(`${ref}: ${reason}`),
    }
    const dues = drafts.map((draft) => ({ draft, dueAt: msOf(TO) }))
    await publishOnTime(dues, api, new AbortController().signal)
    return { ...seen, waitedMs: now - TO }
  }

  const play: PublishDraft = { ref: refOf(1), type: 'play', kind: 'vote', contestId: 1, kots: '1.0' }
  const burn: PublishDraft = { ref: refOf(2), type: 'burn', kind: 'platform_income', kots: '1.0' }
  const undo: PublishDraft = { ...play, ref: refOf(3), type: 'correction', details: { corrects: 1 } }
  const refused = (mayPass: boolean): SendResult => ({ refused: 'the treasury holds 0', mayPass })

  test('names the corrected event by its seq, in a log with other events too', async () => {
    const { sent } = await driven([play, burn, undo])
    assert.deepEqual(sent, [play, burn, { ...undo, details: { corrects: 8 } }])
  })

  test('waits while the corrected draft is held', async () => {
    let now = TO
    const corrections: PublishDraft[] = []
    const api = {
      now: () => msOf(now),
      seqOf: (number: number) => (now < TO + 10 * SECOND_MS ? ('held' as const) : number),
      until: async (moment: Ms) => void (now = moment),
      async send(draft: PublishDraft) {
        corrections.push(draft)
        return 'accepted' as const
      },
      skip: () => assert.fail('no draft is refused'),
    }
    await publishOnTime([{ draft: undo, dueAt: msOf(TO) }], api, new AbortController().signal)
    assert.deepEqual(corrections, [undo])
    assert.equal(now, TO + 10 * SECOND_MS)
  })

  test('leaves out the correction of a draft that stays held', async () => {
    let now = TO
    const api = {
      now: () => msOf(now),
      seqOf: () => 'held' as const,
      until: async (moment: Ms) => void (now = moment),
      send: async () => assert.fail('nothing is published'),
      skip: () => assert.fail('no draft is refused'),
    }
    await publishOnTime([{ draft: undo, dueAt: msOf(TO) }], api, new AbortController().signal)
    assert.ok(now > TO + MINUTE_MS)
  })

  test('skips a refused draft, and leaves out its correction', async () => {
    const { sent, skipped, waitedMs } = await driven([play, burn, undo], ({ ref }) =>
      ref === play.ref ? refused(false) : 'accepted',
    )
    assert.deepEqual(sent, [play, burn])
    assert.deepEqual(skipped, [`${play.ref}: the treasury holds 0`])
    assert.equal(waitedMs, 0)
  })

  test('sends a draft again while the publish API accepts nothing', async () => {
    const { sent, waitedMs } = await driven([play, burn], (_, turn) => (turn < 3 ? 'later' : 'accepted'))
    assert.deepEqual(sent, [play, play, play, burn])
    assert.equal(waitedMs, 10_000)
  })

  test('waits with a draft whose refusal may pass when held drafts are published', async () => {
    const { sent, skipped } = await driven([play, burn], ({ ref }, _, waitedMs) =>
      ref === play.ref && waitedMs < 12_000 ? refused(true) : 'accepted',
    )
    assert.equal(sent.at(-1), burn)
    assert.deepEqual(skipped, [])
  })

  test('waits for half a minute, once for each contest', async () => {
    const plays = Array.from({ length: 6 }, (_, index) => ({
      ...play,
      ref: refOf(index + 1),
      contestId: 1 + (index % 2),
    }))
    const { skipped, waitedMs } = await driven(plays, () => refused(true))
    assert.equal(skipped.length, 6)
    assert.equal(waitedMs, 60_000)
  })
})
