import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { billionths, negate } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { CORRECTABLE_TYPES, ruleOf } from '../../src/protocol/rules.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'
import type { HeldModel } from './held-model.ts'

/** Transactions that drafts name. */
export const TXS = 9
const CONTESTS = 3

/** Random choices for one draft. `pick` chooses among what exists, such as events to correct. */
export type DraftChoice = Readonly<{
  fits: boolean
  contest: number
  amount: bigint
  pick: number
  hasTx: boolean
}>

/** Drafts that fit a contest in each state, more or less often. The others are chosen now and then. */
const FITTING = {
  upcoming: ['contest/opened', 'pool/top_up', 'pool/sponsor'],
  running: [
    'play/entry',
    'play/entry',
    'play/entry',
    'pool/top_up',
    'pool/top_up',
    'pool/sponsor',
    'prize/winner',
    'payout/winner',
    'expiry/winner',
    'contest/closed',
    'contest/closed',
    'contest/closed',
    'contest/cancelled',
    'treasury/deposit',
  ],
  paying: [
    'prize/winner',
    'prize/winner',
    'prize/second',
    'payout/winner',
    'payout/winner',
    'payout/winner',
    'payout/second',
    'payout/refund',
    'expiry/winner',
    'pool/top_up',
    'pool/sponsor',
    'pool/returned',
    'contest/paid',
    'correction',
    'correction',
    'restated',
  ],
  paid: ['correction', 'restated', 'restated', 'burn/platform_income', 'treasury/deposit', 'payout/winner'],
} as const

type Status = keyof typeof FITTING
const STATUSES: readonly Status[] = ['upcoming', 'running', 'paying', 'paid']
const STATUS_AFTER: Readonly<Record<string, Status>> = {
  opened: 'running',
  closed: 'paying',
  cancelled: 'paying',
  paid: 'paid',
}

export const draftChoices: fc.Arbitrary<DraftChoice> = fc.record({
  fits: fc.integer({ min: 0, max: 9 }).map((noise) => noise > 0),
  contest: fc.integer({ min: 1, max: CONTESTS }),
  amount: fc.bigInt({ min: 0n, max: 6n }),
  pick: fc.nat(10_000),
  hasTx: fc.boolean(),
})

function draft(
  ref: string,
  name: string,
  contest: number | null,
  kots: bigint | null,
  more: Partial<Draft> = {},
): Draft {
  const [type = '', kind = ''] = name.split('/')
  const rule = ruleOf(type, kind)
  assert.ok(rule !== undefined, name)
  return {
    ref,
    atMs: null,
    type: rule.type,
    kind,
    contestId: contest === null ? null : contestIdOf(contest),
    kots: kots === null ? null : billionths(kots),
    tx: null,
    details: null,
    ...more,
  }
}

/** All contests run. */
export const BEGINNING: readonly Draft[] = [
  draft('coins', 'treasury/deposit', null, 12n),
  ...[1, 2, 3].flatMap((contest) => [
    draft(`plan-${contest}`, 'contest/scheduled', contest, null, {
      details: { opensAt: msOf(1), closesAt: msOf(2) },
    }),
    draft(`open-${contest}`, 'contest/opened', contest, null),
    draft(`gift-${contest}`, 'pool/sponsor', contest, 9n),
  ]),
]

/** The draft of a choice; undefined when nothing fits it. */
export function draftOf(choice: DraftChoice, ref: string, { published, held }: HeldModel): Draft | undefined {
  const { fits, contest, amount, pick } = choice
  const moves = [...published, ...held.map((each) => each.draft)].filter(
    ({ type, contestId }) => type === 'contest' && contestId === contest,
  )
  const status = fits ? STATUS_AFTER[moves.at(-1)?.kind ?? ''] : STATUSES[pick % STATUSES.length]
  const names = FITTING[status ?? 'upcoming']
  const name = names[(pick >> 2) % names.length] ?? ''
  if (name === 'correction') return correctionOf(published, pick, ref)
  if (name === 'restated') return restatementOf(published, choice, ref)
  const rule = ruleOf(...(name.split('/') as [string, string]))
  assert.ok(rule !== undefined, name)
  const tx = rule.tx === 'must' || (rule.tx === 'may' && choice.hasTx) ? `transaction-${pick % TXS}` : null
  const kots = rule.kots === 'must' ? amount : null
  return draft(ref, name, rule.contestId === 'must' ? contest : null, kots, { tx })
}

function correctionOf(published: readonly Draft[], pick: number, ref: string): Draft | undefined {
  const candidates = published.flatMap((each, index) =>
    CORRECTABLE_TYPES.includes(each.type) && each.type !== 'correction'
      ? [{ each, seq: seqOf(index + 1) }]
      : [],
  )
  const found = candidates[pick % Math.max(1, candidates.length)]
  if (found === undefined) return undefined
  const { type, contestId, kots } = found.each
  const amount = kots === null ? null : negate(kots)
  return {
    ...found.each,
    ref,
    type: 'correction',
    kind: type,
    contestId,
    kots: amount,
    tx: null,
    details: { corrects: found.seq },
  }
}

/** An event like one that was corrected, with another amount. */
function restatementOf(published: readonly Draft[], choice: DraftChoice, ref: string): Draft | undefined {
  const corrections = published.flatMap(({ details }) => details?.corrects ?? [])
  const restates = corrections[choice.pick % Math.max(1, corrections.length)]
  const like = restates === undefined ? undefined : published[restates - 1]
  if (like === undefined || restates === undefined) return undefined
  const details: Details = { restates }
  const tx = like.type === 'payout' || choice.hasTx ? (like.tx ?? null) : null
  return { ...like, ref, kots: billionths(choice.amount), tx, details }
}
