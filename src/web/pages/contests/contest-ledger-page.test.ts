import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import { plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import {
  cancelled,
  closed,
  correction,
  deposit,
  hoursIn,
  opened,
  paid,
  payout,
  prize,
  running,
  seeContest,
  termed,
  wordsOf,
} from '../../../../test/web/contest-story.ts'
import { HOUR_MS } from '../../../protocol/moment.ts'
import type { ContestLedger } from '../../../protocol/endpoints/contest-endpoints.ts'
import { contestVerdict } from './contest-verdict.ts'
import { paymentCheck, poolAccount } from './contest-sums.ts'

suite("a contest's page", () => {
  test('adds up its payments, corrections and refunds to the figures of the ledger', async () => {
    const page = await seeContest('/contests/1/ledger', [
      ...running,
      closed,
      { ...prize, kots: '60' },
      payout('30'),
      correction('payout', '-30', 7),
      payout('60'),
      payout('40', 'refund'),
    ])
    const hundred = String.raw`<data value="100\.000000000">100<small>\.000000000<\/small><\/data>`
    assert.match(page, new RegExp(String.raw`data-expr="sum \/payouts\/\*\/kots">${hundred}`))
    assert.match(
      page,
      new RegExp(String.raw`data-expr="sum \/prizes\/0\/redeemed \/pool\/out\/refund">${hundred}`),
    )
    assert.match(page, /Equal, to the last decimal/)
    assert.match(page, /Payments and corrections/)
    assert.match(page, /Correction of a payout/)
    assert.match(page, /A player<\/span>, stake given back/)
  })

  test('has a T account whose sides are equal', async () => {
    const page = await seeContest('/contests/1/ledger', [...running, closed, { ...prize, kots: '60' }])
    const sides = [...page.matchAll(/<tfoot>([^]*?)<\/tfoot>/g)].map(([, foot = '']) => wordsOf(foot))
    assert.deepEqual(sides.slice(-2), [
      'All that came in 100.000000000',
      'Left in the pool 40.000000000 All that went out or is left 100.000000000',
    ])
  })

  test('has the sums of its prizes between a rule and a double rule', async () => {
    const page = await seeContest('/contests/1/ledger', [
      ...running,
      closed,
      { ...prize, kots: '60' },
      { ...prize, kind: 'second', kots: '40' },
      payout('60'),
    ])
    const [, rows = ''] = /class="cards prizes"[^]*?<tbody>([^]*?)<\/tbody>/.exec(page) ?? []
    assert.match(wordsOf(rows), /^Winner .* Second /)
    const [foot = ''] = /<tfoot>[^]*?<\/tfoot>/.exec(page) ?? []
    assert.equal(wordsOf(foot), 'All 100 60.00 40.00')
    assert.match(page, /data-expr="all-paid \/prizes\/1\/notRedeemed \/prizes\/1\/expired">All paid</)
  })

  test('calls no prize all paid that a correction cancelled', async () => {
    const page = await seeContest('/contests/1/ledger', [
      ...running,
      closed,
      prize,
      correction('prize', '-100', 6),
    ])
    assert.doesNotMatch(page, /All paid/)
    const [, rows = ''] = /class="cards prizes"[^]*?<tbody>([^]*?)<\/tbody>/.exec(page) ?? []
    assert.equal(wordsOf(rows), 'Winner 0 0 0')
  })

  test('names the event of each state', async () => {
    const page = await seeContest('/contests/1/ledger', [...running, closed, prize, payout('100'), paid])
    for (const [word, seq] of [
      ['Opened', 3],
      ['Closed', 5],
      ['Settled', 8],
    ] as const) {
      assert.match(page, new RegExp(`>${word} <small>event <span[^>]*><a class="seq" href="/events/${seq}">`))
    }
  })

  test('names the moments of a contest that was rescheduled again and again', async () => {
    const moved = Array.from({ length: 21 }, (_, index): StoryEvent => ({
      type: 'contest',
      kind: 'rescheduled',
      contestId: 1,
      details: { opensAt: hoursIn(1), closesAt: hoursIn(72 + index) },
    }))
    const page = wordsOf(await seeContest('/contests/1/ledger', [...running, ...moved]))
    assert.match(page, /Course 1 Oct 00:02 UTC Opened 4 Oct 20:00 UTC Closes as planned/)
  })

  test('says how a cancelled contest ended, and that its pool was given back only if it was', async () => {
    const returned: StoryEvent = { type: 'pool', kind: 'returned', contestId: 1, kots: '60' }
    const ends: readonly (readonly [story: readonly StoryEvent[], end: RegExp])[] = [
      [[...cancelled, payout('100', 'refund'), paid], /The pool was given back event 6, /],
      [[...cancelled, payout('40', 'refund'), returned, paid], /Settled event 7, /],
      [[...cancelled, { ...returned, kots: '100' }, paid], /Settled event 6, /],
      [[...cancelled, payout('40', 'refund')], /to come Settled Not yet/],
    ]
    for (const [story, end] of ends) {
      const page = wordsOf(await seeContest('/contests/1/ledger', story))
      assert.match(page, end)
      assert.doesNotMatch(page, /All given back|stakes are given back/)
    }
  })

  test('expects nothing more in the pool of a contest that has ended', async () => {
    const empty = [deposit, plan(1, 'First', HOUR_MS), opened]
    for (const [story, said] of [
      [empty, 'Nothing has been put into the pool yet.'],
      [[...empty, closed], 'Nothing was put into the pool.'],
      [
        [...empty, { type: 'contest', kind: 'cancelled', contestId: 1 } as const],
        'Nothing was put into the pool.',
      ],
    ] as const) {
      assert.ok(wordsOf(await seeContest('/contests/1/ledger', story)).includes(said), said)
    }
  })

  test('has the payments of a running contest before its close', async () => {
    const daily = [...running, termed('30', 'daily', {}), payout('10', 'daily'), payout('20', 'daily')]
    const runs = wordsOf(await seeContest('/contests/1/ledger', daily))
    assert.match(
      runs,
      /Opened event 3 1 Oct 00:05 UTC First payment event 6 1 Oct 00:06 UTC Newest payment of 2 so far 2 Oct 01:00 UTC Closes as planned/,
    )
    assert.match(runs, /From its first payment to now: what was paid grows/)
    const both = wordsOf(await seeContest('/contests/1/ledger', [...daily, closed, prize, payout('1')]))
    assert.match(both, /First payment event 6 1 Oct 00:07 UTC Closed event 8/)
  })

  test('is found and named by its newest title, and its course has each new one', async () => {
    const renamed = (title: string, reason?: string): StoryEvent => ({
      type: 'contest',
      kind: 'renamed',
      contestId: 1,
      details: { title, ...(reason === undefined ? {} : { reason }) },
    })
    const named = renamed('Fist', 'A <test> name')
    const story = [...running, named, closed, prize, payout('100'), paid, renamed('Final')]
    const page = await seeContest('/contests/1/ledger', story)
    assert.match(wordsOf(page), /Contests \/ 1 Final/)
    assert.match(
      wordsOf(page),
      /Opened event 3 1 Oct 00:04 UTC Renamed “Fist” event 5: A &lt;test&gt; name 1 Oct 00:05 UTC Closed event 6/,
    )
    assert.match(wordsOf(page), /Settled event 9, [^]*Renamed “Final” event 10/)
    assert.match(wordsOf(await seeContest('/contests?q=final', story)), /Final 1 paid in full/)
    assert.match(wordsOf(await seeContest('/contests?q=first', story)), /No contest in this list/)
  })

  test('has its end also when many new titles followed it', async () => {
    const renamed: StoryEvent = { type: 'contest', kind: 'renamed', contestId: 1, details: { title: 'X' } }
    const many = Array.from({ length: 25 }, () => renamed)
    const page = wordsOf(
      await seeContest('/contests/1/ledger', [...running, closed, prize, payout('100'), paid, ...many]),
    )
    assert.match(page, /1 Oct 00:04 UTC Closed 1 Oct/)
    assert.match(page, /1 Oct 00:07 UTC Settled 3 min after it closed/)
  })

  test('calls no correction a payment', async () => {
    const story = [...running, closed, prize, payout('60'), correction('payout', '-60', 7)]
    const one = wordsOf(await seeContest('/contests/1/ledger', story))
    assert.match(one, /First payment 2 min after it closed to come Settled/)
    assert.doesNotMatch(one, /Newest payment/)
    assert.match(one, /Payments and corrections 2, newest first/)
    const again = [...running, closed, prize, payout('60'), payout('20'), correction('payout', '-60', 7)]
    const two = wordsOf(await seeContest('/contests/1/ledger', again))
    assert.match(two, /1 Oct 00:07 UTC Newest payment of 2 so far/)
  })

  test('has what is still to come as soft lines', async () => {
    const page = await seeContest('/contests/1/ledger', [plan(1, 'First', HOUR_MS)])
    const soft = [...page.matchAll(/<li class="soft">([^]*?)<\/li>/g)].map(([, line = '']) => wordsOf(line))
    assert.deepEqual(soft, ['1 Oct 01:00 UTC Opens as planned', '2 Oct 01:00 UTC Closes as planned'])
  })

  test('says when it is settled at the earliest', async () => {
    const page = await seeContest('/contests/1/ledger', [
      ...running,
      closed,
      termed('50', 'winner', { reviewUntil: hoursIn(60) }),
    ])
    assert.match(wordsOf(page), /to come Settled Not yet: 3 Oct 12:00 UTC at the earliest/)
  })

  test('says of each prize what it waits for, until when and how long', async () => {
    const page = await seeContest('/contests/1/ledger', [
      ...running,
      closed,
      termed('50', 'runner_up', { claim: true }),
      termed('50', 'winner', { reviewUntil: hoursIn(60) }),
    ])
    const [, book = ''] = /What waits, and why[^]*?<ol class="book"[^>]*>([^]*?)<\/ol>/.exec(page) ?? []
    assert.deepEqual(book.split('</li>').slice(0, 2).map(wordsOf), [
      '3 Oct 12:00 UTC Winner: in review The operator is checking that the contest followed its rules. Can be paid in 12 h. 50.00',
      'since 1 Oct Runners-up: to be claimed It can be paid as soon as its winner asks for it on the platform. 50.00',
    ])
    assert.match(page, /href="\/payouts\.ics\?contestId=1" data-chrome>Add to a calendar</)
  })

  test('shows a transaction by its ends, linked at the first explorer, with a button that copies all of it', async () => {
    const page = await seeContest('/contests/1/ledger', [...running, closed, prize, payout('100')])
    assert.match(
      page,
      /<a class="id" rel="noreferrer" href="https:\/\/explorer\.example\/tx\/transaction-0001\?of=transaction-0001">tran…0001<\/a>\s*<button type="button" hidden data-copy="transaction-0001" aria-label="Copy transaction tran…0001">/,
    )
  })

  test('links a transaction to the event that names it if there is no explorer', async () => {
    await using stage = await openApiStage({ story: [...running, closed, prize, payout('100')] })
    const page = await (await stage.get('/contests/1/ledger')).text()
    assert.match(page, /<a class="id" href="\/tx\/transaction-0001">tran…0001</)
  })

  test('has the newest eight payments, and the earlier ones in a closed list', async () => {
    const payments = Array.from({ length: 25 }, () => payout('1'))
    const page = await seeContest('/contests/1/ledger', [...running, closed, prize, ...payments])
    const [, newest = '', earlier = ''] =
      /"cards payments"[^]*?<tbody>([^]*?)<\/tbody>[^]*?<details>([^]*?)<\/details>/.exec(page) ?? []
    assert.equal(newest.match(/<tr/g)?.length, 8)
    assert.match(newest, /^\s*<tr data-row="\/payouts\/24">/)
    assert.match(wordsOf(earlier), /^17 earlier payments/)
    assert.equal(earlier.match(/<tr data-row/g)?.length, 17)
    assert.match(wordsOf(page), /Payments 25, newest first/)
  })

  test('has the newest hundred of more payments, and leads to all of them', async () => {
    const payments = Array.from({ length: 150 }, () => payout('0.5'))
    const page = await seeContest('/contests/1/ledger', [...running, closed, prize, ...payments], 1)
    assert.equal(page.match(/<tr data-row="\/payouts/g)?.length, 100)
    assert.match(page, /<a href="\/contests\/1\/ledger\?limit=100">Read all from the first on<\/a>/)
    assert.match(page, /Equal, to the last decimal/)
  })

  test('of more than ten thousand payments has a part, adds nothing up, and stays small', async () => {
    const payments = Array.from({ length: 10_001 }, () => payout('0.001'))
    const story = [...running, closed, prize, ...payments, correction('prize', '-100', 6)]
    await using stage = await openApiStage({ story, apartMs: 1 })
    const page = await (await stage.get('/contests/1/ledger')).text()
    assert.equal(page.match(/<tr data-row="\/payouts/g)?.length, 100)
    assert.match(page, /only part of the payments, so they do not add up to what is paid/)
    assert.doesNotMatch(page, /Do they add up\?|How it was paid/)
    assert.match(page, /rel="next" href="\/contests\/1\/ledger\?after=\d+&limit=100"\s*>Later payments</)
    assert.ok(page.length < 120_000, `${page.length} characters`)
    const [, csv = ''] = /<a href="([^"]*)">all as CSV</.exec(page) ?? []
    const rows = (await (await stage.get(csv.replaceAll('&amp;', '&'))).text()).trimEnd().split('\r\n')
    // A head, every payment, and the correction of the prize.
    assert.equal(rows.length, 1 + 10_001 + 1)
  })

  test('draws how it was paid, if it has every payment', async () => {
    const story = [...running, closed, prize, payout('30'), payout('70')]
    assert.match(await seeContest('/contests/1/ledger', story), /<svg\s+class="plot inset"/)
    const part = await seeContest('/contests/1/ledger?limit=1', story)
    assert.doesNotMatch(part, /<svg\s+class="plot/)
    assert.match(part, /only part of the payments/)
    assert.match(part, /Later payments/)
  })

  test('isolates the direction of its title', async () => {
    const page = await seeContest('/contests/1/ledger', [plan(1, 'Round \u202Edlo <b>&', HOUR_MS)])
    assert.match(page, /<h1 class="name"><bdi>Round dlo &lt;b&gt;&amp;<\/bdi><\/h1>/)
  })

  test('is the target of a contest’s redirect', async () => {
    await using stage = await openApiStage()
    const moved = async (path: string): Promise<readonly unknown[]> => {
      const response = await fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })
      return [response.status, response.headers.get('location')]
    }
    assert.deepEqual(await moved('/contests/1'), [308, '/contests/1/ledger'])
    assert.deepEqual(await moved('/contests/1.json'), [308, '/api/v1/contests/1'])
    assert.equal((await stage.get('/contests/99')).status, 404)
  })
})

suite('the verdict of a ledger whose sums differ', () => {
  const ledger = (payment: string, left: string): ContestLedger =>
    ({
      contest: { status: 'paid', prizesOwed: '2.000000000', prizesRedeemed: '2.000000000', closedAt: null },
      pool: { in: { top_up: '2.000000000' }, out: { winner: '2.000000000' }, balance: left },
      prizes: [
        {
          kind: 'winner',
          owed: '2.000000000',
          redeemed: '2.000000000',
          expired: '0.000000000',
          notRedeemed: '0.000000000',
        },
      ],
      payouts: [{ type: 'payout', kots: payment }],
      next: null,
    }) as never
  const view = { query: { has: () => false }, site: { token: 'KOTS' } } as never
  const said = (of: ContestLedger): string =>
    wordsOf(contestVerdict({ ledger: of, unpaid: null, view }).markup)

  test('says so first, before any share that is paid', () => {
    assert.match(
      said(ledger('1.999999999', '0.000000000')),
      /^The sums do not agree The lines of this ledger/,
    )
    assert.match(said(ledger('2.000000000', '0.000000001')), /^The sums do not agree /)
  })

  test('has both sums side by side', () => {
    const check = paymentCheck(ledger('1.999999999', '0.000000000'), view)?.markup ?? ''
    assert.match(
      wordsOf(check),
      /The one payment 1\.999999999 Paid, says the ledger 2\.000000000 The two do not agree\./,
    )
    assert.match(
      wordsOf(poolAccount(ledger('2.000000000', '0.000000001'), view).markup),
      /2\.000000001 The two sums do not agree\./,
    )
  })
})
