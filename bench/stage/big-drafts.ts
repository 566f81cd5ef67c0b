import type { ImportDraft } from '../../sim/import-draft.ts'
import { bulkLines } from '../../sim/bulk.ts'
import { type Random, randomOf } from '../../sim/random.ts'
import { busyness } from '../../sim/rhythm.ts'
import { DAY_MS, formatAt, HOUR_MS, monthOf, type Ms, msOf, WEEK_MS } from '../../src/protocol/moment.ts'

/** A draft without its ref and moment. */
type DraftBody = Omit<ImportDraft, 'ref' | 'at'>

/** A draft as JSON, and the moment at which it is published. */
type TimedDraft = Readonly<{ ms: Ms; draft: DraftBody }>

type BigDraftsSettings = Readonly<{ seed: string; from: Ms; to: Ms; count: number }>

/** Drafts of one round of twelve contests: five million events have some 10,000 contests. */
const ROUND_DRAFTS = 6_000
/** Drafts of the longer first round, so that one contest has a ledger of over a thousand payouts. */
const FIRST_ROUND_SHARE = 25
const CONTESTS_OF_ROUND_MAX = 1_000
const CORRECT_EVERY = 2_000
/** Margin for random pauses, so that the last draft is before `to`. */
const SPAN_SHARE = 0.99
const KINDS = [
  ['vote', 50],
  ['entry', 25],
  ['boost', 12],
  ['retry', 8],
  ['sticker', 5],
] as const

/**
 * Drafts of a busy platform in order of time, about `count` over `[from, to)`. Activity follows the time of day. Plays
 * have five kinds. Every round leaves one running contest and one that owes prizes. Prizes have terms, some plays are
 * corrected, and each month has a loyalty reward.
 */
export function* bigDrafts(settings: BigDraftsSettings): Generator<TimedDraft, undefined> {
  const { from, to, count, seed } = settings
  const random = randomOf(seed)
  const everyMs = (((to - from) * SPAN_SHARE) / count) * meanBusyness()
  let at: number = from
  let month = monthOf(from)
  let made = 0
  let last: LastPlay | null = null
  for (const draft of rounds(settings, random)) {
    if (made >= count) return undefined
    at += random.exponential(everyMs) / busyness(at)
    const ms = msOf(Math.floor(at))
    made++
    yield { ms, draft: withTerms(draft, ms, random) }
    if (draft.type === 'play') last = { seq: made, draft }
    if (made % CORRECT_EVERY === 0 && last !== null) {
      made++
      yield { ms, draft: correctionOf(last) }
      last = null
    }
    if (monthOf(ms) === month) continue
    for (const reward of loyaltyOf(month, ms)) {
      made++
      yield { ms, draft: reward }
    }
    month = monthOf(ms)
  }
  return undefined
}

function meanBusyness(): number {
  const hours = WEEK_MS / HOUR_MS
  return Array.from({ length: hours }, (_, hour) => busyness(hour * HOUR_MS) / hours).reduce((a, b) => a + b)
}

type LastPlay = Readonly<{ seq: number; draft: DraftBody }>

/** Endless rounds. Each is cut, so that its newest contests stay open. */
function* rounds({ from, to, count, seed }: BigDraftsSettings, random: Random): Generator<DraftBody> {
  for (let round = 0; ; round++) {
    const length = round === 0 ? Math.max(ROUND_DRAFTS, Math.floor(count / FIRST_ROUND_SHARE)) : ROUND_DRAFTS
    let left = random.between(Math.floor(length * 0.6), length)
    for (const line of bulkLines({ seed: `${seed} ${round}`, from, to, count: length })) {
      if (left-- === 0) break
      const { ref: _ref, at: _at, ...draft } = JSON.parse(line) as ImportDraft
      const { contestId } = draft
      yield contestId === undefined
        ? draft
        : { ...draft, contestId: round * CONTESTS_OF_ROUND_MAX + contestId }
    }
  }
}

/** The draft with its moment's values: planned times, terms of a prize, a kind of play. */
function withTerms(draft: DraftBody, ms: Ms, random: Random): DraftBody {
  const later = (days: number): string => formatAt(msOf(ms + days * DAY_MS))
  switch (`${draft.type}/${draft.kind}`) {
    case 'play/vote':
    case 'play/entry':
    case 'play/boost':
      return { ...draft, kind: random.weighted(KINDS) }
    case 'contest/scheduled': {
      const details = { title: `Round ${String(draft.contestId)}`, opensAt: later(0), closesAt: later(1) }
      return { ...draft, details }
    }
    case 'prize/winner': {
      const terms = {
        unlocksAt: later(2),
        reviewUntil: later(random.between(1, 30)),
        claim: random.chance(0.5),
      }
      return { ...draft, details: { winners: random.between(1, 500), ...terms } }
    }
    default:
      return draft
  }
}

function correctionOf({ seq, draft }: LastPlay): DraftBody {
  return { ...draft, type: 'correction', kind: 'play', kots: `-${draft.kots}`, details: { corrects: seq } }
}

/** Loyalty reward of the month before: planned, computed, paid. */
function loyaltyOf(month: string, ms: Ms): readonly DraftBody[] {
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
  const kots = '250.000000000'
  const tx = `4${'5'.repeat(87)}`
  return [
    { type: 'loyalty', kind: 'accrual', kots },
    { type: 'loyalty', kind: 'scheduled', details: { month, paysAt: formatAt(msOf(ms + DAY_MS)) } },
    { type: 'loyalty', kind: 'input', details: { month, digest } },
    { type: 'loyalty', kind: 'output', kots, details: { month, digest, recipients: 1_000 } },
    { type: 'payout', kind: 'loyalty', kots, tx, details: { month } },
  ]
}
