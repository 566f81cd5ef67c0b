import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  contest,
  draftOf,
  moved,
  PAID,
  PAYING,
  published,
  refusalAfter,
  type Row,
  RUNNING,
  type TableEvent,
  testAdmission,
  TIMES,
  UPCOMING,
} from '../../../test/story/admission-table.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import { correcting, time } from '../../../test/story/story.ts'
import { openMemoryLog } from '../../../test/story/memory-log.ts'
import { seqOf } from '../../protocol/seq.ts'
import { KINDS_MAX } from '../../project/fold/tally.ts'
import { judgeDraft } from './admission.ts'

const STATES = { unplanned: [], upcoming: UPCOMING, running: RUNNING, paying: PAYING, paid: PAID }
const STATE_NAMES = ['unplanned', 'upcoming', 'running', 'paying', 'paid'] as const

suite('an event of a contest', () => {
  const table: readonly (readonly [is: TableEvent['is'], ...admittedIn: string[]])[] = [
    ['contest/scheduled', 'unplanned'],
    ['contest/rescheduled', 'upcoming', 'running'],
    ['contest/renamed', 'upcoming', 'running', 'paying', 'paid'],
    ['contest/opened', 'upcoming'],
    ['contest/closed', 'running'],
    ['contest/cancelled', 'upcoming', 'running'],
    ['contest/paid', 'paying'],
    ['play/entry', 'running'],
    ['pool/top_up', 'upcoming', 'running', 'paying'],
    ['pool/sponsor', 'upcoming', 'running', 'paying'],
    ['pool/returned', 'upcoming', 'running', 'paying'],
    ['prize/winner', 'running', 'paying'],
    ['hold/winner', 'running', 'paying'],
    ['payout/winner', 'running', 'paying'],
    ['payout/refund', 'running', 'paying'],
    ['expiry/winner', 'running', 'paying'],
  ]
  for (const [is, ...admittedIn] of table) {
    const [type = '', kind = ''] = is.split('/')
    // An amount of zero needs no balance, so that only the order decides.
    const draft = type === 'contest' ? contest(kind) : moved(is, '0', 1)
    test(`such as ${is} is admitted while the contest is ${admittedIn.join(', ')}, else refused with 409 wrong-state`, () => {
      for (const state of STATE_NAMES) {
        const refusal = refusalAfter(STATES[state], draft)
        assert.equal(refusal === null, admittedIn.includes(state), `${is} while ${state}`)
        if (refusal !== null) assert.equal(refusal.code, 'wrong-state')
      }
    })
  }

  const cancelled = [...UPCOMING, contest('cancelled')]
  const sponsored = [...UPCOMING, moved('pool/sponsor', '5', 1), contest('cancelled')]
  testAdmission([
    [
      'is judged by the state of its own contest',
      [...RUNNING, contest('scheduled', 2)],
      moved('play/entry', '1', 2),
      'type: this contest is upcoming: publish play only while it is running',
    ],
    [
      'is admitted in a cancelled contest as in the state paying',
      cancelled,
      moved('prize/winner', '0', 1),
      null,
    ],
    ['may refund the pool of a cancelled contest', sponsored, moved('payout/refund', '5', 1), null],
    [
      'may set a cancelled contest to paid when all is refunded',
      [...sponsored, moved('payout/refund', '5', 1)],
      contest('paid'),
      null,
    ],
    [
      'may not leave a prize that was won before the contest was cancelled unpaid',
      [...RUNNING, moved('pool/sponsor', '5', 1), moved('prize/daily', '2', 1), contest('cancelled')],
      moved('payout/refund', '3.000000001', 1),
      'kots: pool:1 holds 3.000000000, less than 3.000000001',
    ],
    [
      'never opens a cancelled contest',
      cancelled,
      contest('opened'),
      'kind: this contest is paying: publish opened only while it is upcoming',
    ],
    [
      'may move closesAt of a running contest',
      RUNNING,
      { ...contest('rescheduled'), details: { ...TIMES, closesAt: time('2026-12-01') } },
      null,
    ],
    [
      'may announce no end, and move its opening while it announces none',
      [{ ...contest('scheduled'), details: { opensAt: TIMES.opensAt } }],
      { ...contest('rescheduled'), details: { opensAt: time('2026-10-05') } },
      null,
    ],
    [
      'may announce the end of a running contest that had none',
      [{ ...contest('scheduled'), details: { opensAt: TIMES.opensAt } }, contest('opened')],
      contest('rescheduled'),
      null,
    ],
    [
      'may not take back an announced end',
      RUNNING,
      { ...contest('rescheduled'), details: { opensAt: TIMES.opensAt } },
      'details.closesAt: this contest has announced its end, which may move and not be taken back',
    ],
    [
      'may not move opensAt of a running contest',
      RUNNING,
      { ...contest('rescheduled'), details: { ...TIMES, opensAt: time('2026-10-01') } },
      'details.opensAt: a running contest may move its closesAt only',
    ],
  ])
})

suite('a payout', () => {
  const funded = [...RUNNING, moved('pool/sponsor', '10', 1), contest('closed')]
  const later = time('2099-01-01')
  testAdmission([
    [
      'is admitted before its prize unlocks and during its review, which are published and not enforced',
      [...funded, { ...moved('prize/winner', '10', 1), details: { unlocksAt: later, reviewUntil: later } }],
      moved('payout/winner', '10', 1),
      null,
    ],
  ])
})

suite('contest/paid', () => {
  const funded = [...RUNNING, moved('pool/sponsor', '10', 1), contest('closed')]
  const won = [...funded, moved('prize/winner', '10', 1)]
  testAdmission([
    [
      'is refused while the pool has a balance',
      funded,
      contest('paid'),
      'kind: pool:1 holds 10.000000000; a paid contest holds nothing',
    ],
    [
      'is refused while a prize of any kind is unpaid',
      [...won, moved('payout/winner', '9.999999999', 1)],
      contest('paid'),
      'kind: unredeemed:1:winner holds 0.000000001; a paid contest holds nothing',
    ],
    [
      'is refused while more is paid than won',
      [...won, moved('payout/winner', '10', 1), { is: 'correction/prize', details: correcting(5) }],
      contest('paid'),
      'kind: pool:1 holds 10.000000000; a paid contest holds nothing',
    ],
    [
      'is refused while a prize of a cancelled contest is unpaid, though its pool is refunded',
      [
        ...RUNNING,
        moved('pool/sponsor', '5', 1),
        moved('prize/daily', '2', 1),
        contest('cancelled'),
        moved('payout/refund', '3', 1),
      ],
      contest('paid'),
      'kind: unredeemed:1:daily holds 2.000000000; a paid contest holds nothing',
    ],
    [
      'is admitted when the prizes of a cancelled contest are paid or have expired',
      [
        ...RUNNING,
        moved('pool/sponsor', '5', 1),
        moved('prize/daily', '2', 1),
        contest('cancelled'),
        moved('payout/refund', '3', 1),
        moved('payout/daily', '1', 1),
        moved('expiry/daily', '1', 1),
      ],
      contest('paid'),
      null,
    ],
    [
      'is admitted when the rest has expired or is returned',
      [
        ...funded,
        moved('prize/winner', '4', 1),
        moved('expiry/winner', '4', 1),
        moved('pool/returned', '6', 1),
      ],
      contest('paid'),
      null,
    ],
  ])
})

suite('a balance inside the platform', () => {
  const funded = [moved('treasury/deposit', '5'), ...UPCOMING]
  const pool = [...PAYING.slice(0, -1), moved('pool/sponsor', '5', 1), contest('closed')]
  const unredeemed = [...pool, moved('prize/winner', '5', 1)]
  const loyalty = [moved('treasury/deposit', '5'), moved('loyalty/accrual', '5')]
  const asks = 'less than 5.000000001'
  const givers: readonly (readonly [
    is: TableEvent['is'],
    account: string,
    story: readonly TableEvent[],
    id?: number,
  ])[] = [
    ['pool/top_up', 'treasury', funded, 1],
    ['pool/play_share', 'treasury', funded, 1],
    ['burn/platform_income', 'treasury', funded],
    ['treasury/withdrawal', 'treasury', funded],
    ['loyalty/accrual', 'treasury', funded],
    ['prize/winner', 'pool:1', pool, 1],
    ['pool/returned', 'pool:1', pool, 1],
    ['payout/refund', 'pool:1', pool, 1],
    ['payout/winner', 'unredeemed:1:winner', unredeemed, 1],
    ['expiry/winner', 'unredeemed:1:winner', unredeemed, 1],
    ['payout/loyalty', 'loyalty', loyalty],
  ]
  testAdmission(
    givers.flatMap(([is, account, story, id]): Row[] => [
      [`allows ${is} of all that ${account} holds`, story, moved(is, '5', id), null],
      [
        `refuses ${is} of a billionth more than ${account} holds, and names account, balance and amount`,
        story,
        moved(is, '5.000000001', id),
        `kots: ${account} holds 5.000000000, ${asks}`,
      ],
    ]),
  )

  const unlimited: readonly (readonly [is: TableEvent['is'], id?: number])[] = [
    ['play/entry', 1],
    ['pool/sponsor', 1],
    ['treasury/deposit'],
    ['trade/buy'],
    ['trade/sell'],
  ]
  testAdmission(
    unlimited.map(([is, id]): Row => [
      `does not limit ${is}, which no account inside the platform pays`,
      RUNNING,
      moved(is, '1', id),
      null,
    ]),
  )
  testAdmission([
    [
      'refuses the payment of a prize as one of another kind',
      unredeemed,
      moved('payout/runner_up', '1', 1),
      'kots: unredeemed:1:runner_up holds 0.000000000, less than 1.000000000',
    ],
    [
      'does not limit a correction',
      [moved('treasury/deposit', '5'), moved('burn/platform_income', '5')],
      { is: 'correction/treasury', kots: '-5', details: correcting(1) },
      null,
    ],
  ])

  test('refuses with the code insufficient-balance', () =>
    assert.equal(refusalAfter([], moved('burn/platform_income', '1'))?.code, 'insufficient-balance'))

  test('stays at zero or above for random drafts without corrections', () => {
    let taken = 0
    fc.assert(
      fc.property(randomLogs, (entries) => {
        const log = openMemoryLog()
        for (const { event, details } of entries) {
          const { type, kind, contestId, kots, tx, atMs } = event
          const draft = { ref: 'r', atMs: null, type, kind, contestId, kots, tx, details }
          if (type === 'correction' || judgeDraft(log.fold(), draft, 'refuse').refusal !== null) continue
          const seq = seqOf(log.entries().length + 1)
          log.add({ event: { seq, type, kind, atMs, contestId, kots, tx }, details })
          taken += 1
        }
        const { figures } = log.fold().tally
        const inside = [
          figures.treasury,
          figures.runningPools,
          figures.prizesNotRedeemed,
          figures.loyaltyFund,
        ]
        return inside.every((balance) => balance >= 0n)
      }),
      { numRuns: 300, seed: 20_261_121 },
    )
    assert.ok(taken > 1_000, `${taken} events were taken`)
  })
})

suite('a log', () => {
  // An amount of zero needs no balance.
  const of = (type: string, kind: string) => moved(`${type}/${kind}` as TableEvent['is'], '0', 1)
  for (const [type, before, reserved] of [
    ['play', RUNNING, null],
    ['prize', PAYING, null],
    ['payout', PAYING, 'refund'],
    ['burn', [], null],
  ] as const) {
    test(`has at most ${KINDS_MAX} kinds of ${type} under every setting of balances`, () => {
      const kinds = Array.from({ length: KINDS_MAX }, (_, index) => of(type, `kind_${index}`))
      const { fold } = published([...before, ...kinds])
      const refusalOf = (kind: string) => judgeDraft(fold(), draftOf(of(type, kind)), 'report').refusal
      assert.equal(refusalOf('kind_7'), null)
      assert.deepEqual(refusalOf('another'), {
        code: 'invalid-draft',
        field: 'kind',
        reason: `a log has at most 256 kinds of ${type}`,
      })
      if (reserved !== null) assert.equal(refusalOf(reserved), null)
    })
  }
})
