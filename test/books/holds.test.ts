import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { storePath } from '../../src/log/store/store.ts'
import { openMemoryLog } from '../story/memory-log.ts'
import { payouts } from '../../src/project/answers/payouts.ts'
import { billionths, negate } from '../../src/protocol/amount.ts'
import { type Details, formatDetailsLine } from '../../src/protocol/details.ts'
import { type Entry, formatEvent } from '../../src/protocol/event.ts'
import { HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import type { EventType } from '../../src/protocol/rules.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'
import { recompute } from '../../src/publish/recompute.ts'
import type { PublicEntry } from '../oracle/book.ts'
import { payouts as naivePayouts } from '../oracle/payouts.ts'
import { openCampaign } from '../torture/campaign.ts'
import { openDirectory, reading, write, writerSteps } from '../story/store-run.ts'

const CAMPAIGN = openCampaign('review-holds')
/** Runs of each property. */
const RUNS = CAMPAIGN.size
const START = Date.UTC(2026, 0, 1)
const KINDS = ['winner', 'runner_up'] as const

/** Random choices for the steps of a paying contest. A step that does not fit is left out. */
const steps = fc.array(
  fc.record({
    is: fc.constantFrom('prize', 'prize', 'prize', 'hold', 'payout', 'expiry', 'correction', 'correction'),
    kind: fc.constantFrom(...KINDS),
    kots: fc.bigInt({ min: 1n, max: 30n }),
    pick: fc.nat(1000),
    hours: fc.integer({ min: -3, max: 6 }),
  }),
  { minLength: 3, maxLength: 60, size: 'max' },
)

type Step = (typeof steps extends fc.Arbitrary<infer Value> ? Value : never)[number]

/** A log in which no payout comes before its prize. */
function storyOf(chosen: readonly Step[]): readonly Entry[] {
  const entries: Entry[] = []
  const standing = new Map<string, bigint>()
  const corrected = new Set<number>()
  const add = (type: EventType, kind: string, kots: bigint | null, details: Details | null): void => {
    const seq = seqOf(entries.length + 1)
    const atMs = msOf(START + Math.floor(entries.length / 3) * HOUR_MS)
    const contestId = contestIdOf(1)
    const tx = type === 'payout' ? `tx-${seq}` : null
    const amount = kots === null ? null : billionths(kots)
    entries.push({ event: { seq, type, kind, atMs, contestId, kots: amount, tx }, details })
  }
  add('contest', 'scheduled', null, { opensAt: msOf(START), closesAt: msOf(START) })
  for (const { is, kind, kots, pick, hours } of chosen) {
    const later = msOf(START + (entries.length / 3 + hours) * HOUR_MS + (pick % 7))
    const stands = standing.get(kind) ?? 0n
    if (is === 'hold') add('hold', kind, null, { reviewUntil: later })
    else if (is === 'prize') {
      standing.set(kind, stands + kots)
      add('prize', kind, kots, {
        ...(pick % 3 === 0 ? { unlocksAt: msOf(START + (pick % 9) * HOUR_MS) } : {}),
        ...(pick % 2 === 0 ? { reviewUntil: msOf(START + (pick % 11) * HOUR_MS) } : {}),
        ...(pick % 5 === 0 ? { claim: true } : {}),
        winners: 1,
      })
    } else if (is !== 'correction') {
      const amount = kots < stands ? kots : stands
      if (amount <= 0n) continue
      standing.set(kind, stands - amount)
      add(is === 'payout' ? 'payout' : 'expiry', kind, amount, null)
    } else correct(pick)
  }
  return entries

  function correct(pick: number): void {
    // One prize of a kind, because the order in which payments move between two is not specified.
    const isCorrected = (kind: string): boolean =>
      entries.some(({ event }) => event.type === 'prize' && event.kind === kind && corrected.has(event.seq))
    const candidates = entries.filter(({ event }) => {
      const { type, seq, kind } = event
      if (corrected.has(seq)) return false
      return type === 'payout' || type === 'expiry' || (type === 'prize' && !isCorrected(kind))
    })
    const event = candidates[pick % Math.max(1, candidates.length)]?.event
    if (event?.kots === undefined || event.kots === null) return
    corrected.add(event.seq)
    const back = event.type === 'prize' ? negate(event.kots) : event.kots
    standing.set(event.kind, (standing.get(event.kind) ?? 0n) + back)
    add('correction', event.type, negate(event.kots), { corrects: event.seq })
  }
}

function publicOf({ event, details }: Entry): PublicEntry {
  const line = details === null ? null : JSON.parse(formatDetailsLine(event.seq, details)).details
  return { event: JSON.parse(formatEvent(event)), details: line }
}

suite('review holds', () => {
  const figures = { logs: 0, events: 0, stores: 0 }
  test('move only the amounts that are unpaid at that moment, across payments and corrections', () => {
    fc.assert(
      fc.property(steps.map(storyOf), (entries) => {
        figures.logs += 1
        figures.events += entries.length
        const memory = openMemoryLog()
        for (const [index, entry] of entries.entries()) {
          memory.add(entry)
          const book = entries.slice(0, index + 1).map(publicOf)
          for (const hours of [0, 2, 7, 30]) {
            const now = msOf(START + hours * HOUR_MS)
            assert.deepEqual(payouts(memory.books(), {}, now), naivePayouts(book, now))
          }
        }
      }),
      { numRuns: RUNS, seed: CAMPAIGN.seedNumber },
    )
  })

  test('are the same in the store, however their events are divided into commits', (t) => {
    fc.assert(
      fc.property(steps.map(storyOf), writerSteps, (entries, written) => {
        figures.stores += 1
        using directory = openDirectory()
        for (const done of write(directory.path, entries, written, 'durable')) {
          const book = entries.slice(0, done).map(publicOf)
          for (const hours of [0, 7, 30]) {
            const now = msOf(START + hours * HOUR_MS)
            const told = reading(directory.path, (reader) =>
              reader.snapshot(({ books }) => payouts(books, {}, now)),
            )
            assert.deepEqual(told, naivePayouts(book, now))
          }
        }
        const again = recompute(storePath(directory.path), join(directory.path, 'scratch.db'))
        let step = again.next()
        while (step.done !== true) step = again.next()
        assert.deepEqual(step.value.differences, [])
      }),
      { numRuns: RUNS, seed: CAMPAIGN.seedNumber },
    )
    CAMPAIGN.finish(t, figures, { logs: RUNS, events: RUNS * 5, stores: RUNS })
  })
})
