import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { StoryEvent } from '../../../../test/stage/api-stage.ts'
import { openApiStage, plan } from '../../../../test/stage/api-stage.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { HOUR_MS } from '../../../protocol/moment.ts'
import { seqOf } from '../../../protocol/seq.ts'
import { parseExplorer } from '../../markup/site.ts'

const TX = 'transaction-0001'
const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
const pool: StoryEvent = { type: 'pool', kind: 'top_up', contestId: 1, kots: '100' }
const opened: StoryEvent = { type: 'contest', kind: 'opened', contestId: 1 }
const closed: StoryEvent = { type: 'contest', kind: 'closed', contestId: 1 }
const paid: StoryEvent = { type: 'contest', kind: 'paid', contestId: 1 }
const prize: StoryEvent = { type: 'prize', kind: 'winner', contestId: 1, kots: '100' }
const running = [deposit, plan(1, 'First', HOUR_MS), opened, pool]

const payout = (kots: string, kind = 'winner'): StoryEvent => ({
  type: 'payout',
  kind,
  contestId: 1,
  kots,
  tx: TX,
})

/** A page of a log with these events, compared with its JSON. */
async function see(path: string, story: readonly StoryEvent[]): Promise<string> {
  const explorer = parseExplorer('https://explorer.example/tx/{tx}?of={tx}')
  assert.ok(explorer !== undefined)
  await using stage = await openApiStage({ story, site: { explorers: [explorer] } })
  const page = await (await stage.get(path)).text()
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return page
}

/** Text of a ledger's lead. */
async function verdict(story: readonly StoryEvent[]): Promise<string> {
  const page = await see('/contests/1/ledger', story)
  const lead = /<p class="lead"[^>]*>([^]*?)<\/p>/.exec(page)?.[1] ?? ''
  return lead
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

suite("a contest's ledger begins with its payment status", () => {
  const verdicts: readonly (readonly [when: string, story: readonly StoryEvent[], said: string])[] = [
    [
      'before it opens',
      [plan(1, 'First', HOUR_MS)],
      'upcoming Planned to open at 2026-10-01 01:00:00 UTC: nothing is won yet.',
    ],
    [
      'while it runs',
      running,
      'running Open until 2026-10-02 01:00:00 UTC: prizes are won once it has closed. 100.000000000 KOTS are in the pool.',
    ],
    [
      'when part of it is paid',
      [...running, closed, prize, payout('30')],
      'paying 30.000000000 of 100.000000000 KOTS are paid, 70.000000000 KOTS are still open. All that is open has been available since 2026-10-01 00:05:00 UTC.',
    ],
    [
      'when some of it lapsed',
      [
        ...running,
        closed,
        prize,
        payout('30'),
        { type: 'expiry', kind: 'winner', contestId: 1, kots: '70' },
        paid,
      ],
      'paid 30.000000000 of 100.000000000 KOTS are paid, 70.000000000 KOTS have lapsed. Nothing is left to pay.',
    ],
    [
      'when all of it is paid',
      [...running, closed, prize, payout('100'), paid],
      'paid 100.000000000 of 100.000000000 KOTS are paid. Nothing is left to pay.',
    ],
    [
      'when it was cancelled',
      [
        deposit,
        plan(1, 'First', HOUR_MS),
        pool,
        { type: 'contest', kind: 'cancelled', contestId: 1 },
        payout('100', 'refund'),
        paid,
      ],
      'paid Cancelled: stakes are given back. 100.000000000 KOTS went back to players.',
    ],
  ]
  for (const [when, story, said] of verdicts) {
    test(when, async () => assert.equal(await verdict(story), said))
  }
})

suite('the list of contests', () => {
  const cancelled: readonly StoryEvent[] = [
    deposit,
    plan(1, 'First', HOUR_MS),
    pool,
    { type: 'contest', kind: 'cancelled', contestId: 1 },
    payout('100', 'refund'),
    paid,
  ]

  test('says that a contest was cancelled and that nothing was won', async () => {
    const page = await see('/contests', cancelled)
    assert.match(page, /<span class="pill paid">paid<\/span> cancelled/)
    assert.match(page, />nothing was won</)
    assert.doesNotMatch(page, /nothing won yet/)
  })

  test('does not say so of a contest without prizes yet', async () => {
    const page = await see('/contests', [...running, closed])
    assert.doesNotMatch(page, /cancel|nothing was won/)
    assert.match(page, />nothing won yet</)
  })
})

suite('a table row on a phone', () => {
  for (const path of ['/contests', '/']) {
    test(`labels at ${path} the moment that it shows`, async () => {
      const ofOpen = await see(path, running)
      assert.match(ofOpen, /<td data-label="closes">\s*(?:<span class="fold"|<time)/)
      const ofClosed = await see(path, [...running, prize, closed])
      assert.match(ofClosed, /<td data-label="closed">\s*(?:<span class="fold"|<time)/)
      assert.doesNotMatch(ofClosed, /data-label="closes"/)
    })
  }
})

suite("a contest's ledger", () => {
  test('adds up its payouts, corrections and refunds to the figures of the ledger', async () => {
    const page = await see('/contests/1/ledger', [
      ...running,
      closed,
      { ...prize, kots: '60' },
      payout('30'),
      {
        type: 'correction',
        kind: 'payout',
        contestId: 1,
        kots: '-30',
        tx: TX,
        details: { corrects: seqOf(7) },
      },
      payout('60'),
      payout('40', 'refund'),
    ])
    assert.match(page, /data-expr="sum \/payouts\/\*\/kots"><data class="n" value="100\.000000000"/)
    assert.match(
      page,
      /data-expr="sum \/prizes\/0\/redeemed \/pool\/out\/refund"><data class="n" value="100\.000000000"/,
    )
    assert.match(page, /The two agree\./)
    assert.match(page, /correction of a payout/)
  })

  test('has the singular for one entry and one play', async () => {
    const entry: StoryEvent = { type: 'play', kind: 'entry', contestId: 1, kots: '1' }
    const said = async (story: readonly StoryEvent[]): Promise<string> => {
      const page = await see('/contests/1/ledger', story)
      return page.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')
    }
    assert.match(await said(running), / 0 entries and 0 plays, /)
    assert.match(await said([...running, entry]), / 1 entry and 1 play, /)
  })

  test('names the event of each state', async () => {
    const page = await see('/contests/1/ledger', [...running, closed, prize, payout('100'), paid])
    for (const [word, seq] of [
      ['Opened', 3],
      ['Closed', 5],
      ['Paid in full', 8],
    ] as const) {
      assert.match(
        page,
        new RegExp(`${word} at <time[^>]*>[^<]*</time>, <a class="seq" href="/events/${seq}">`),
      )
    }
  })

  test('links each transaction at the explorers', async () => {
    const page = await see('/contests/1/ledger', [...running, closed, prize, payout('100')])
    assert.match(
      page,
      /<a rel="noreferrer" href="https:\/\/explorer\.example\/tx\/transaction-0001\?of=transaction-0001">explorer\.example</,
    )
  })

  test('draws paid and owed prizes, if it has every payout', async () => {
    const story = [...running, closed, prize, payout('30'), payout('70')]
    assert.match(await see('/contests/1/ledger', story), /<svg\s+class="plot"/)
    const part = await see('/contests/1/ledger?limit=1', story)
    assert.doesNotMatch(part, /<svg\s+class="plot/)
    assert.match(part, /only all of them add up/)
    assert.match(part, /rel="next" href="\/contests\/1\/ledger\?after=7&amp;limit=200"|Later payouts/)
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

suite('the contests', () => {
  test('are counted by state, each with a link', async () => {
    const page = await see('/contests', [...running, closed, prize, plan(2, null, HOUR_MS)])
    const tabs = [
      ...page.matchAll(
        /<li><a href="(\/contests[^"]*)"[^>]*>(\w+) <span[^>]*><data class="n" value="(\d+)"/g,
      ),
    ]
    assert.deepEqual(
      tabs.map(([, href, tab, number]) => [href, tab, number]),
      [
        ['/contests', 'all', '2'],
        ['/contests?status=running', 'running', '0'],
        ['/contests?status=upcoming', 'upcoming', '1'],
        ['/contests?status=paying', 'paying', '1'],
        ['/contests?status=paid', 'paid', '0'],
        ['/contests?status=closed', 'closed', '1'],
      ],
    )
  })

  test('of a state without contests say so, and name the next one', async () => {
    const page = await see('/contests?status=paying', [plan(1, 'First', HOUR_MS)])
    assert.match(page, /No contest is paying now\./)
    assert.match(page, /The next to close is <a href="\/contests\/1\/ledger"><bdi>First<\/bdi><\/a>/)
  })

  test('of an empty log say so, and link the log', async () => {
    await using stage = await openApiStage({ story: [] })
    const page = await (await stage.get('/contests')).text()
    assert.match(page, /There has been no contest yet\./)
    assert.match(page, /See what was published last/)
  })

  test('that were cancelled before they opened are called never opened', async () => {
    const story: readonly StoryEvent[] = [
      plan(1, 'First', HOUR_MS),
      { type: 'contest', kind: 'cancelled', contestId: 1 },
    ]
    assert.match(await see('/contests', story), /never opened/)
  })
})
