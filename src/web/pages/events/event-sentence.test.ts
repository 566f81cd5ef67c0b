import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { EventWire } from '../../../protocol/event.ts'
import type { EventDetails } from '../../../protocol/endpoints/event-endpoints.ts'
import { type DetailsField, type Rule, RULES } from '../../../protocol/rules.ts'
import { eventName, eventSentence, typeNames } from './event-sentence.ts'
import { DEFAULT_SITE } from '../../markup/site.ts'
import { plainText } from '../../markup/page-lead.ts'

const ON = '3 Oct 2026 11:22:33 UTC'
const VIEW = { site: DEFAULT_SITE }

/** A value for each detail, with moments as pairs. */
const DETAILS: Readonly<Record<DetailsField, Record<string, string | number | boolean>>> = {
  title: { title: 'Lost <Gloves>' },
  opensAt: { opensAt: '2026-10-05T00:00:00.000Z', opensAtMs: 1 },
  closesAt: { closesAt: '2026-10-06T00:00:00.000Z', closesAtMs: 2 },
  count: { count: 7 },
  unlocksAt: { unlocksAt: '2026-10-07T00:00:00.000Z', unlocksAtMs: 3 },
  reviewUntil: { reviewUntil: '2026-10-08T00:00:00.000Z', reviewUntilMs: 4 },
  claim: { claim: true },
  winners: { winners: 40 },
  month: { month: '2026-09' },
  paysAt: { paysAt: '2026-10-09T00:00:00.000Z', paysAtMs: 5 },
  digest: { digest: `sha256:${'0'.repeat(64)}` },
  recipients: { recipients: 12 },
  bytes: { bytes: 99 },
  url: { url: 'https://files.example/input' },
  price: { price: '0.031000000000' },
  corrects: { corrects: 25 },
  reason: { reason: 'Entered twice' },
  restates: {},
}

/** An event of a rule with all its fields and details; with `must` only the required ones. */
function saidOf(rule: Rule, only: 'all' | 'must' = 'all', more: Record<string, number> = {}): string {
  const amount = rule.type === 'correction' ? '-12.345678901' : '12.345678901'
  const event: EventWire = {
    seq: 30,
    type: rule.type,
    kind: rule.kind === '*' ? 'voter_share' : rule.kind,
    at: '2026-10-03T11:22:33.444Z',
    atMs: 1_791_026_553_444,
    contestId: rule.contestId === 'none' ? null : 42,
    kots: rule.kots === 'none' ? null : amount,
    tx: null,
  }
  const fields = Object.entries(rule.details).filter(([, need]) => only === 'all' || need === 'must')
  const details = Object.assign({}, ...fields.map(([field]) => DETAILS[field as DetailsField]), more)
  const said: EventDetails['details'] = Object.keys(details).length === 0 ? null : details
  return wordsOf(
    eventSentence(event, { address: '/details', answer: { seq: 30, details: said } }, VIEW).markup,
  )
}

function wordsOf(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const KOTS = '12.345678901 KOTS'
const SENTENCES: Readonly<Record<string, string>> = {
  'contest/scheduled': `Contest 42, “Lost <Gloves>”, was planned on ${ON}: it opens on 5 Oct 2026 00:00:00 UTC and closes on 6 Oct 2026 00:00:00 UTC.`,
  'contest/rescheduled': `Contest 42 was rescheduled on ${ON}: it opens on 5 Oct 2026 00:00:00 UTC and closes on 6 Oct 2026 00:00:00 UTC.`,
  'contest/renamed': `Contest 42 was renamed on ${ON}: its title is “Lost <Gloves>”. The reason given: “Entered twice”.`,
  'contest/opened': `Contest 42 opened on ${ON}: it takes plays.`,
  'contest/closed': `Contest 42 closed on ${ON}: it takes no more plays and pays its prizes.`,
  'contest/paid': `Contest 42 was settled on ${ON}: no prize was left to pay, and its pool was empty.`,
  'contest/cancelled': `Contest 42 was cancelled on ${ON}: what it holds is paid back.`,
  'play/*': `${KOTS} were spent on 7 plays (voter share) in contest 42 on ${ON}.`,
  'pool/sponsor': `A sponsor added ${KOTS} to the pool of contest 42 on ${ON}.`,
  'pool/returned': `${KOTS} left over in the pool of contest 42 went back to the treasury on ${ON}.`,
  'pool/*': `${KOTS} were added to the pool of contest 42 from the treasury (voter share) on ${ON}.`,
  'prize/*': `Voters won ${KOTS} in contest 42 on ${ON}, shared by 40: it is owed until it is paid.`,
  'hold/*': `The unpaid prizes of voters of contest 42 were put in review on ${ON}, until 8 Oct 2026 00:00:00 UTC.`,
  'payout/refund': `Contest 42 paid ${KOTS} back to players on ${ON}.`,
  'payout/loyalty': `${KOTS} were paid to players as the loyalty reward of 2026-09 on ${ON}.`,
  'payout/*': `Contest 42 paid ${KOTS} to a voter on ${ON}.`,
  'expiry/*': `${KOTS} that voters won in contest 42 were never claimed: they expired, and went to the treasury, on ${ON}.`,
  'burn/*': `${KOTS} of the treasury were burned (voter share) on ${ON}.`,
  'loyalty/accrual': `${KOTS} of the treasury were set aside for the loyalty reward on ${ON}.`,
  'loyalty/scheduled': `The loyalty reward of 2026-09 was planned on ${ON}: it is paid on 9 Oct 2026 00:00:00 UTC.`,
  'loyalty/input': `The input of the loyalty reward of 2026-09 was fixed by its digest on ${ON}, before the result was known.`,
  'loyalty/output': `The loyalty reward of 2026-09 was computed to be ${KOTS} for 12 recipients, and fixed by its digest, on ${ON}.`,
  'treasury/deposit': `${KOTS} were deposited into the treasury on ${ON}. The reason given: “Entered twice”.`,
  'treasury/withdrawal': `${KOTS} were withdrawn from the treasury on ${ON}. The reason given: “Entered twice”.`,
  'price/usd': `One KOTS cost 0.031000000000 US dollars on ${ON}.`,
  'trade/buy': `${KOTS} were bought in the token’s market pool on ${ON}.`,
  'trade/sell': `${KOTS} were sold in the token’s market pool on ${ON}.`,
}

suite('the sentence of an event', () => {
  test('exists for every type and kind of the rules, and for no other', () => {
    const rules = RULES.filter(({ type }) => type !== 'correction')
    assert.deepEqual(
      rules.map(({ type, kind }) => `${type}/${kind}`),
      Object.keys(SENTENCES),
    )
  })

  for (const rule of RULES) {
    const { type, kind } = rule
    const wanted =
      type === 'correction'
        ? `Cancels event 25, of type ${kind} in contest 42, on ${ON}: it counts -12.345678901 KOTS.`
        : SENTENCES[`${type}/${kind}`]
    test(`${type}/${kind}: ${wanted}`, () => {
      assert.equal(saidOf(rule), wanted)
    })

    test(`${type}/${kind} is complete without optional details`, () => {
      const said = saidOf(rule, 'must')
      assert.match(said, /^[A-Z\d].*\.$/)
      assert.doesNotMatch(said, /undefined|null|NaN|\( ?\)| [,.:]| {2}/)
      assert.ok(said.includes(ON))
      if (rule.kots !== 'none') assert.match(said, /12\.345678901 KOTS/)
      if (rule.contestId !== 'none') assert.match(said, /contest 42/i)
    })
  }

  test('of a correction without a contest or an amount names the corrected event', () => {
    const price = RULES.find(({ type, kind }) => type === 'correction' && kind === 'price')
    assert.ok(price !== undefined)
    const said = saidOf({ ...price, contestId: 'none', kots: 'none' })
    assert.equal(said, `Cancels event 25, of type price, on ${ON}.`)
  })

  test('names the event that this one replaces', () => {
    const rule = RULES.find(({ type, kind }) => type === 'payout' && kind === '*')
    assert.ok(rule !== undefined)
    const said = saidOf(rule, 'all', { restates: 25 })
    assert.equal(said, `Contest 42 paid ${KOTS} to a voter on ${ON}. It replaces event 25.`)
  })
})

suite('the name of an event', () => {
  test('is in words for every type and kind of the rules', () => {
    const names = RULES.map(({ type, kind }) =>
      plainText(eventName(type, kind === '*' ? 'voter_share' : kind)),
    )
    for (const name of names) assert.match(name, /^(?!Event )[A-Z][^_*]+$/)
    // Each correction has the kind of what it cancels.
    assert.equal(new Set(names).size, names.length)
  })

  const examples: readonly (readonly [type: string, kind: string, name: string])[] = [
    ['play', 'vote', 'Vote'],
    ['payout', 'runner_up', 'Payment to a runner-up'],
    ['payout', 'refund', 'Refund to players'],
    ['prize', 'winner', 'Prizes of the winner'],
    ['contest', 'opened', 'Contest opened'],
    ['correction', 'payout', 'Correction (payout)'],
    ['later', 'thing', 'Event (later)'],
  ]
  for (const [type, kind, name] of examples) {
    test(`${type}/${kind} is: ${name}`, () => {
      assert.equal(plainText(eventName(type, kind)), name)
    })
  }

  test('of a type is in the plural, and of an unknown type the type', () => {
    assert.equal(typeNames(['payout', 'prize']), 'Payments, prizes won')
    assert.equal(typeNames(['later']), 'Later')
  })
})
