import * as fc from 'fast-check'
import { billionths, negate, trillionths } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import type { Entry } from '../../src/protocol/event.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, type Month, msOf } from '../../src/protocol/moment.ts'
import { CORRECTABLE_TYPES, ruleOf } from '../../src/protocol/rules.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'

/** Random choices for one step of a log, which uses those that fit. */
type Step = Readonly<{
  gapMs: number
  name: string
  contest: number
  amount: bigint
  pick: number
  hours: number
}>

const START = Date.UTC(2026, 0, 30, 21, 13)

const NAMES = [
  'contest/scheduled',
  'contest/rescheduled',
  'contest/renamed',
  'contest/opened',
  'contest/closed',
  'contest/paid',
  'contest/cancelled',
  'play/entry',
  'play/entry',
  'play/vote',
  'play/boost',
  'pool/top_up',
  'pool/sponsor',
  'pool/returned',
  'prize/winner',
  'prize/voter_share',
  'hold/winner',
  'payout/winner',
  'payout/voter_share',
  'payout/refund',
  'payout/loyalty',
  'expiry/winner',
  'burn/platform_income',
  'loyalty/accrual',
  'loyalty/scheduled',
  'loyalty/input',
  'loyalty/output',
  'treasury/deposit',
  'treasury/withdrawal',
  'price/usd',
  'trade/buy',
  'correction',
  'correction',
  'correction',
]

const gaps = fc.oneof(
  fc.constantFrom(0, 0, 1, 999, MINUTE_MS, HOUR_MS, DAY_MS),
  fc.integer({ min: 0, max: 3 * MINUTE_MS }),
  fc.integer({ min: 0, max: 30 * HOUR_MS }),
  fc.integer({ min: 0, max: 12 * DAY_MS }),
)

const steps: fc.Arbitrary<Step> = fc.record({
  gapMs: gaps,
  name: fc.constantFrom(...NAMES),
  contest: fc.integer({ min: 1, max: 3 }),
  amount: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.bigInt({ min: 0n, max: 10n ** 27n - 1n })),
  pick: fc.nat(1000),
  hours: fc.integer({ min: -50, max: 50 }),
})

/**
 * Random logs of every type and kind, with corrections and equal moments. Order and balances can be wrong, as with
 * `--balances report`.
 */
export const randomLogs: fc.Arbitrary<readonly Entry[]> = fc
  .array(steps, { maxLength: 60, size: 'max' })
  .map(entriesOf)

function entriesOf(chosen: readonly Step[]): readonly Entry[] {
  const entries: Entry[] = []
  let atMs = START
  for (const step of chosen) {
    atMs += step.gapMs
    const entry = step.name === 'correction' ? correction(step, entries, atMs) : ordinary(step, entries, atMs)
    if (entry !== undefined) entries.push(entry)
  }
  return entries
}

function ordinary(step: Step, before: readonly Entry[], atMs: number): Entry {
  const [type = '', kind = ''] = step.name.split('/')
  const rule = ruleOf(type, kind)
  if (rule === undefined) throw new Error(`there is no ${step.name}`)
  return {
    event: {
      seq: seqOf(before.length + 1),
      type: rule.type,
      kind,
      atMs: msOf(atMs),
      contestId: rule.contestId === 'must' ? contestIdOf(step.contest) : null,
      kots: rule.kots === 'must' ? billionths(step.amount) : null,
      tx: rule.tx === 'must' ? `transaction-${before.length}` : null,
    },
    details: detailsOf(rule.details, step, atMs),
  }
}

/** All required details, and the optional ones that the step's pick selects. */
function detailsOf(asked: Readonly<Record<string, string>>, step: Step, atMs: number): Details | null {
  const later = msOf(atMs + step.hours * HOUR_MS)
  const possible: Details = {
    title: `Contest ${step.pick % 7}`,
    opensAt: later,
    closesAt: msOf(later + DAY_MS),
    count: step.pick % 5 || 1,
    unlocksAt: later,
    reviewUntil: msOf(atMs + (step.pick % 40) * HOUR_MS),
    claim: step.pick % 3 === 0,
    month: `2026-0${1 + (step.pick % 3)}` as Month,
    paysAt: later,
    digest: `sha256:${'0'.repeat(64)}`,
    recipients: step.pick,
    price: trillionths(step.amount),
  }
  const details = Object.fromEntries(
    Object.entries(possible).filter(
      ([field], index) =>
        asked[field] === 'must' || (asked[field] === 'may' && (step.pick >> index) % 2 === 0),
    ),
  )
  return Object.keys(details).length === 0 ? null : details
}

function correction(step: Step, before: readonly Entry[], atMs: number): Entry | undefined {
  const cancelled = new Set(before.map(({ details }) => details?.corrects))
  const candidates = before.filter(
    ({ event }) => CORRECTABLE_TYPES.includes(event.type) && !cancelled.has(event.seq),
  )
  const corrected = candidates[step.pick % Math.max(1, candidates.length)]?.event
  if (corrected === undefined) return undefined
  return {
    event: {
      ...corrected,
      seq: seqOf(before.length + 1),
      type: 'correction',
      kind: corrected.type,
      atMs: msOf(atMs),
      kots: corrected.kots === null ? null : negate(corrected.kots),
      tx: null,
    },
    details: { corrects: corrected.seq },
  }
}
