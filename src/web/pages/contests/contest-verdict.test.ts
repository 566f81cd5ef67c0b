import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { endless, plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import {
  cancelled,
  closed,
  correction,
  deposit,
  expiry,
  hoursIn,
  opened,
  paid,
  payout,
  pool,
  prize,
  running,
  seeContest,
  smaller,
  termed,
  wordsOf,
} from '../../../../test/web/contest-story.ts'
import { DAY_MS, HOUR_MS } from '../../../protocol/moment.ts'
import { seqOf } from '../../../protocol/seq.ts'

const play: StoryEvent = { type: 'play', kind: 'entry', contestId: 1, kots: '10' }
const returned: StoryEvent = { type: 'pool', kind: 'returned', contestId: 1, kots: '100' }
const cancellation: StoryEvent = { type: 'contest', kind: 'cancelled', contestId: 1 }

/** A payment was corrected after the contest was settled, and paid again. */
const paidAgain: readonly StoryEvent[] = [
  ...running,
  closed,
  prize,
  payout('100'),
  paid,
  correction('payout', '-100', 7),
  { ...payout('100'), details: { restates: seqOf(7) } },
]

/** Verdict of a contest's page: its largest words and the sentence below. */
async function verdict(story: readonly StoryEvent[]): Promise<readonly string[]> {
  const page = await seeContest('/contests/1/ledger', story)
  const [, say = '', lead = ''] =
    /<p class="say">([^]*?)<\/p>\s*<p class="lead">([^]*?)<\/p>/.exec(page) ?? []
  return [wordsOf(say), wordsOf(lead)]
}

suite("a contest's page begins with whether it is paid", () => {
  const verdicts: readonly (readonly [
    when: string,
    story: readonly StoryEvent[],
    say: string,
    lead: string,
  ])[] = [
    [
      'before it opens',
      [plan(1, 'First', 3 * DAY_MS)],
      'Opens 4 Oct 00:00 UTC, in 1 d',
      'It is planned to close 5 Oct 00:00 UTC.',
    ],
    [
      'when it has not opened in time',
      [plan(1, 'First', HOUR_MS)],
      'Was to open 1 Oct 01:00 UTC, 1 d 23 h ago',
      'It is planned to close 2 Oct 01:00 UTC.',
    ],
    [
      'while it runs',
      [deposit, plan(1, 'First', 2 * DAY_MS), opened, pool],
      'Runs until 4 Oct 00:00 UTC, in 1 d',
      '100 KOTS are in the pool now. No prize is won yet.',
    ],
    [
      'before it opens, without an announced end',
      [endless(1, 3 * DAY_MS)],
      'Opens 4 Oct 00:00 UTC, in 1 d',
      'No end is announced.',
    ],
    [
      'while it runs, without an announced end',
      [deposit, endless(1, HOUR_MS), opened, pool],
      'Runs since 1 Oct 00:02 UTC, no end announced',
      '100 KOTS are in the pool now. No prize is won yet.',
    ],
    [
      'when it has not closed in time',
      running,
      'Was to close 2 Oct 01:00 UTC, 23 h ago',
      '100 KOTS are in the pool now. No prize is won yet.',
    ],
    [
      'while it runs and a prize of it waits',
      [...running, termed('30', 'daily', { claim: true }), payout('10', 'daily')],
      'Was to close 2 Oct 01:00 UTC, 23 h ago',
      '70.00 KOTS are in the pool now. 30.00 KOTS were won so far, of which 20.00 KOTS are unpaid. To be claimed: winners of the day.',
    ],
    [
      'while it runs and all that was won is paid',
      [...running, termed('30', 'daily', {}), payout('30', 'daily')],
      'Was to close 2 Oct 01:00 UTC, 23 h ago',
      '70.00 KOTS are in the pool now. 30.00 KOTS were won so far, and all of it is paid.',
    ],
    [
      'while it runs and a prize was corrected after it was paid',
      [...running, termed('30', 'daily', {}), payout('30', 'daily'), correction('prize', '-30', 5)],
      'Was to close 2 Oct 01:00 UTC, 23 h ago',
      '100 KOTS are in the pool now. More was paid than was won, because a prize was corrected afterwards.',
    ],
    [
      'when it was cancelled after prizes had been won',
      [...running, termed('30', 'daily', {}), payout('10', 'daily'), cancellation, payout('70', 'refund')],
      'Cancelled',
      '70.00 KOTS went back to players. 30.00 KOTS were won before, of which 20.00 KOTS are unpaid. Can be paid now: winners of the day.',
    ],
    [
      'when it was cancelled, and what had been won was paid or has expired',
      [
        ...running,
        termed('30', 'daily', {}),
        payout('10', 'daily'),
        cancellation,
        { type: 'expiry', kind: 'daily', contestId: 1, kots: '20' },
        payout('70', 'refund'),
        paid,
      ],
      'Cancelled',
      '70.00 KOTS went back to players. 30.00 KOTS were won before: 10.00 KOTS were paid, and 20.00 KOTS were never claimed.',
    ],
    [
      'when its prizes are still to be published',
      [...running, closed],
      'No prize is won yet',
      'The contest has closed, and its prizes are still to be published. 100 KOTS are in its pool.',
    ],
    [
      'before anything is paid',
      [...running, closed, prize],
      'Nothing is paid yet',
      'Can be paid now: the winner.',
    ],
    [
      'when part of a prize is paid',
      [...running, closed, prize, payout('30')],
      '30% is paid',
      'Can be paid now: the winner.',
    ],
    [
      'when less than a hundredth is paid',
      [...running, closed, prize, payout('0.5')],
      'Less than 1% is paid',
      'Can be paid now: the winner.',
    ],
    [
      'when all but the last decimal is paid, which never reads as all',
      [...running, closed, prize, payout('99.999999999')],
      '99% is paid',
      'Can be paid now: the winner.',
    ],
    [
      'when prizes wait for several reasons',
      [
        ...running,
        closed,
        termed('50', 'winner', { reviewUntil: hoursIn(60) }),
        termed('20', 'runner_up', { claim: true }),
        termed('10', 'voter_share', { unlocksAt: hoursIn(90) }),
        termed('10', 'voter_share', {}),
        termed('10', 'own_kind', { reviewUntil: hoursIn(72) }),
        payout('5', 'runner_up'),
      ],
      '5% is paid',
      'In review until 4 Oct 00:00 UTC at the latest: the winner and own kind. Locked until 4 Oct 18:00 UTC: voters. Can be paid now: voters. To be claimed: runners-up.',
    ],
    [
      'when some of it expired',
      [...running, closed, prize, payout('30'), expiry('70'), paid],
      'Nothing is left to pay',
      '30.00 KOTS were paid, and 70.00 KOTS were never claimed. The contest was settled 1 Oct.',
    ],
    [
      'when all of it is paid',
      [...running, closed, prize, payout('100'), paid],
      'All paid',
      'All 100 KOTS that were won have been paid. The contest was settled 1 Oct.',
    ],
    [
      'when a correction after it was settled left a prize unpaid',
      [...running, closed, prize, payout('97'), payout('3'), paid, correction('payout', '-3', 8)],
      '97% is paid',
      'Can be paid now: the winner. A payment was corrected: both lines are among the payments.',
    ],
    [
      'when that prize was paid again',
      paidAgain,
      'All paid',
      'All 100 KOTS that were won have been paid. The contest was settled 1 Oct. A payment was corrected: both lines are among the payments.',
    ],
    [
      'when a payment was corrected',
      [...running, closed, prize, payout('60'), correction('payout', '-60', 7), payout('50')],
      '50% is paid',
      'Can be paid now: the winner. A payment was corrected: both lines are among the payments.',
    ],
    [
      'when payments were corrected',
      [...paidAgain, correction('payout', '-100', 10)],
      'Nothing is paid yet',
      'Can be paid now: the winner. Payments were corrected: all lines are among the payments.',
    ],
    [
      'when a prize was corrected after it was paid',
      [...running, closed, prize, payout('60'), correction('prize', '-100', 6)],
      'More was paid than was won',
      'A prize was corrected after it was paid.',
    ],
    [
      'when a prize was corrected after a part of it had expired',
      [...running, closed, prize, payout('60'), expiry('40'), correction('prize', '-100', 6), smaller],
      'More has expired than was left to pay',
      'A prize was corrected after its expiry.',
    ],
    [
      'when its only prize was nothing, and its pool was returned',
      [...running, closed, { ...prize, kots: '0' }, returned],
      'No prize was won',
      'Its prizes add up to zero, and nothing is left to pay.',
    ],
    [
      'when its only prize was corrected, and the restatement is still to be published',
      [...running, closed, prize, correction('prize', '-100', 6)],
      'No prize is won yet',
      'The contest has closed. Its prizes add up to zero, and others are still to be published. 100 KOTS are in its pool.',
    ],
    [
      'when its only prize was corrected, and nothing is left in the pool',
      [...running, closed, prize, correction('prize', '-100', 6), returned],
      'No prize was won',
      'Its prizes add up to zero, and nothing is left to pay.',
    ],
    [
      'when it was cancelled',
      cancelled,
      'Cancelled',
      'Nothing has been given back yet. 100 KOTS are still in the pool.',
    ],
    [
      'when it was cancelled and its pool was given back',
      [...cancelled, payout('100', 'refund'), paid],
      'Cancelled',
      '100 KOTS went back to players.',
    ],
    [
      'when it was cancelled and its pool went to the treasury',
      [...cancelled, returned, paid],
      'Cancelled',
      'Nothing is left in its pool, and nothing was given back to players.',
    ],
    [
      'when it was cancelled after plays, which never were in its pool',
      [deposit, plan(1, 'First', HOUR_MS), opened, play, cancellation, paid],
      'Cancelled',
      'Nothing was in its pool, and nobody won a prize.',
    ],
    [
      'when it ended without a prize',
      [...running, closed, payout('100', 'refund'), paid],
      'No prize was won',
      '100 KOTS were given back to players.',
    ],
  ]
  for (const [when, story, say, lead] of verdicts) {
    test(when, async () => assert.deepEqual(await verdict(story), [say, lead]))
  }
})

suite('the bar of a verdict', () => {
  test('has each state with its word, its amount and its share of what was won', async () => {
    const page = await seeContest('/contests/1/ledger', [
      ...running,
      closed,
      termed('50', 'winner', { reviewUntil: hoursIn(60) }),
      termed('20', 'runner_up', { claim: true }),
      termed('10', 'voter_share', { unlocksAt: hoursIn(90) }),
      termed('20', 'voter_share', {}),
      payout('5', 'runner_up'),
      { type: 'expiry', kind: 'runner_up', contestId: 1, kots: '5' },
    ])
    const words = /<ul class="seg-words">([^]*?)<\/ul>/.exec(page)?.[1] ?? ''
    assert.equal(
      wordsOf(words),
      'Paid 5.00 Payable 20.00 To be claimed 10.00 In review 50.00 Locked 10.00 Never claimed 5.00',
    )
    const widths = [...(/<svg class="seg"[^]*?<\/svg>/.exec(page)?.[0].matchAll(/width="([\d.]+)%"/g) ?? [])]
    // A gap of 0.4 per cent stands between two parts.
    assert.deepEqual(
      widths.map(([, width]) => Math.round(Number(width) + 0.4)),
      [5, 20, 10, 50, 10, 5],
    )
  })
})

suite('the course of a contest', () => {
  test('gives the reason of a cancellation beside it', async () => {
    const story = [
      deposit,
      plan(1, 'First', HOUR_MS),
      { type: 'contest', kind: 'cancelled', contestId: 1, details: { reason: 'Too few <entries>' } } as const,
    ]
    const page = await seeContest('/contests/1/ledger', story)
    assert.match(wordsOf(page), /Cancelled event 3: Too few &lt;entries&gt;/)
  })

  test('says how many of the payments were corrected', async () => {
    const page = await seeContest('/contests/1/ledger', [
      ...running,
      closed,
      prize,
      payout('10'),
      payout('20'),
      payout('30'),
      correction('payout', '-20', 8),
    ])
    assert.match(wordsOf(page), /Newest payment of 3 so far, 1 of them corrected/)
  })

  test('tells a payment that followed the settlement after it', async () => {
    const page = await seeContest('/contests/1/ledger', paidAgain)
    assert.match(
      wordsOf(page),
      /1 Oct 00:06 UTC First payment [^]* 1 Oct 00:07 UTC Settled event 8, [^]* 1 Oct 00:09 UTC Last payment of 2, 1 of them corrected/,
    )
  })
})
