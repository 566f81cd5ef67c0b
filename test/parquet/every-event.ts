import { type Amount, billionths, type Price, trillionths } from '../../src/protocol/amount.ts'
import { type Details, formatDetailsLine } from '../../src/protocol/details.ts'
import { type DaybookEvent, formatEvent } from '../../src/protocol/event.ts'
import { type Month, MS_MAX, type Ms, msOf } from '../../src/protocol/moment.ts'
import { type Rule, RULES } from '../../src/protocol/rules.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'

/** An event's line with its details line; null without details. */
export type LinePair = Readonly<{ line: string; details: string | null }>

const LARGEST = Number.MAX_SAFE_INTEGER

/** The extremes of every field: absent ones, least ones, greatest ones, and texts that programs get wrong. */
const EXTREMES: readonly Readonly<{
  atMs: Ms
  kots: Amount
  tx: string
  details: Required<Details>
}>[] = [
  {
    atMs: msOf(0),
    kots: billionths(0n),
    tx: '1',
    details: detailsOf({ text: "'=1+1", number: 0, at: msOf(0), claim: false, price: 0n, month: '1970-01' }),
  },
  {
    atMs: msOf(1_793_491_199_999),
    kots: billionths(-(10n ** 27n - 1n)),
    tx: '5'.repeat(88),
    details: detailsOf({
      text: '日本 🎬 e\u0301 "quoted", \\n\u2028 \uffff\u{10ffff}',
      number: 1,
      at: msOf(1),
      claim: true,
      price: 1n,
      month: '2026-10',
    }),
  },
  {
    atMs: MS_MAX,
    kots: billionths(10n ** 27n - 1n),
    tx: 'ä'.repeat(64),
    details: detailsOf({
      text: 'x'.repeat(2_000),
      number: LARGEST,
      at: MS_MAX,
      claim: true,
      price: 10n ** 30n - 1n,
      month: '9999-12',
    }),
  },
]

type Sample = Readonly<{ text: string; number: number; at: Ms; claim: boolean; price: bigint; month: string }>

function detailsOf({ text, number, at, claim, price, month }: Sample): Required<Details> {
  return {
    title: text,
    opensAt: at,
    closesAt: at,
    count: number,
    unlocksAt: at,
    reviewUntil: at,
    claim,
    winners: number,
    month: month as Month,
    paysAt: at,
    digest: `sha256:${'0f'.repeat(32)}`,
    recipients: number,
    bytes: number,
    url: `https://example.org/${text}`,
    price: trillionths(price) satisfies Price,
    corrects: seqOf(number),
    reason: text,
    restates: seqOf(number),
  }
}

/** Lines of events of every rule, at each extreme of its fields and without all that it may lack. */
export function everyEvent(): readonly LinePair[] {
  const sketches = RULES.flatMap((rule) => [
    bareEvent(rule),
    ...EXTREMES.map((extreme) => fullEvent(rule, extreme)),
  ])
  return sketches.map(({ event, details }, index) => {
    const seq = seqOf(index + 1)
    const pair = details === null ? null : formatDetailsLine(seq, details)
    return { line: formatEvent({ ...event, seq }), details: pair }
  })
}

type Sketch = Readonly<{ event: Omit<DaybookEvent, 'seq'>; details: Details | null }>

function bareEvent({ type, kind }: Rule): Sketch {
  return {
    event: { type, kind: kindOf(kind), atMs: msOf(0), contestId: null, kots: null, tx: null },
    details: null,
  }
}

function fullEvent(rule: Rule, { atMs, kots, tx, details }: (typeof EXTREMES)[number]): Sketch {
  const { type, kind } = rule
  const fields = Object.entries(details).filter(([name]) => Object.hasOwn(rule.details, name))
  const contestId = contestIdOf(LARGEST)
  return {
    event: { type, kind: kindOf(kind), atMs, contestId, kots, tx },
    details: fields.length === 0 ? null : Object.fromEntries(fields),
  }
}

/** A kind for a rule of the operator's own words. */
function kindOf(kind: string): string {
  return kind === '*' ? 'own_word_of_thirty_two_characters'.slice(0, 32) : kind
}
