import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { endless, plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import {
  cancelled,
  closed,
  correction,
  deposit,
  expiry,
  opened,
  paid,
  payout,
  pool,
  prize,
  running,
  seeContest,
  wordsOf,
} from '../../../../test/web/contest-story.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../protocol/moment.ts'

suite('the overview of contests', () => {
  const contest = (id: number, kind: string): StoryEvent => ({ type: 'contest', kind, contestId: id })
  const story: readonly StoryEvent[] = [
    ...running,
    closed,
    prize,
    payout('30'),
    plan(2, 'Second', 47 * HOUR_MS),
    contest(2, 'opened'),
    { ...pool, contestId: 2 },
    plan(3, 'Third', 3 * DAY_MS),
    plan(4, 'Fourth', HOUR_MS),
    contest(4, 'opened'),
    { ...pool, contestId: 4, kots: '50' },
    contest(4, 'closed'),
    { ...prize, contestId: 4, kots: '50' },
    { ...payout('50'), contestId: 4 },
    contest(4, 'paid'),
  ]

  test('has those that run first, then those that owe and those to come, then those that are settled', async () => {
    const page = wordsOf(await seeContest('/contests', story))
    const parts = [
      /Running now soonest to close first closes in 23 h Second 100 KOTS, 0 entries 1 Oct 3 Oct 23:00 UTC/,
      /Paying out All that waits [^]* First 1 Oct 30% 70\.00/,
      /To come Third in 1 d 4 Oct 00:00 UTC/,
      /Settled 1 contest, newest first [^]* Fourth 4 1 Oct 3 min later 0 0 50\.00/,
    ]
    const places = parts.map((part) => page.search(part))
    assert.ok(!places.includes(-1), `${places.join()}: ${page}`)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
  })

  test('says of a contest without an announced end that none is announced, on every page', async () => {
    const runs = [endless(1, HOUR_MS), contest(1, 'opened'), deposit, pool, endless(2, 3 * DAY_MS)]
    const shown: Readonly<Record<string, RegExp>> = {
      '/contests': /no end announced Endless 1 100 KOTS, 0 entries since 1 Oct/,
      '/contests?sort=closesAt': /Endless 1 1 running no end announced 0 100/,
      '/find?q=endless': /Endless 2 to come Pool 0 KOTS no end announced Endless 1 running Pool 100 KOTS/,
      '/schedule': /Endless 2 opens 4 Oct [^]*No end is announced of Endless 1 contest 1\./,
      '/': /Running now 1 running Endless 1 no end announced Pool 100 KOTS/,
      '/contests/1/ledger': /to come Closes no end announced/,
    }
    for (const [path, words] of Object.entries(shown)) {
      const [page = ''] = wordsOf(await seeContest(path, runs)).split('This page as data')
      assert.match(page, words, path)
      assert.doesNotMatch(page, /null|undefined|NaN|1970|was to close/, path)
    }
  })

  test('says that no closed contest pays while a running one may', async () => {
    const runs = [...running, { ...prize, kots: '30' }]
    const settled = story.slice(-6)
    const page = wordsOf(await seeContest('/contests', [...runs, ...settled]))
    assert.match(page, /Paying out No closed contest is paying out\./)
    assert.doesNotMatch(page, /A correction/)
  })

  test('has all contests when the field of its search is blank', async () => {
    await using stage = await openApiStage({ story })
    for (const [asked, shown] of [
      ['q=', ''],
      ['q=+&sort=', ''],
      ['q=&sort=pool&status=running', '?status=running&sort=pool'],
    ] as const) {
      const response = await stage.get(`/contests?${asked}`)
      assert.equal(response.status, 200, asked)
      assert.equal(new URL(response.url).search, shown)
    }
  })

  test('says that none runs and that none waits', async () => {
    const page = wordsOf(await seeContest('/contests', [plan(1, 'First', HOUR_MS)]))
    assert.match(page, /No contest is running now\. See what opens next/)
    assert.match(page, /Nothing waits: no closed contest has prizes to pay\./)
  })

  test('marks a contest that was cancelled', async () => {
    const page = await seeContest('/contests', [...cancelled, payout('100', 'refund'), paid])
    assert.match(page, /<span class="chip cancelled" data-state="cancelled">cancelled<\/span>/)
    assert.doesNotMatch(await seeContest('/contests', story), /data-state="cancelled"/)
    const refunding = wordsOf(await seeContest('/contests', cancelled))
    assert.match(refunding, /Paying out .* First 1 Oct cancelled 0 /)
  })

  test('has twenty that are settled, and leads to the older ones', async () => {
    const many = Array.from({ length: 25 }, (_, index): readonly StoryEvent[] => [
      plan(index + 1, null, HOUR_MS + index * MINUTE_MS),
      contest(index + 1, 'cancelled'),
      contest(index + 1, 'paid'),
    ]).flat()
    const page = await seeContest('/contests', many, 1)
    assert.equal(page.match(/<th scope="row"/g)?.length, 20)
    assert.match(page, /rel="next" href="\/contests\?status=paid&amp;after=6&amp;limit=20">Older contests</)
    assert.equal(page.match(/data-state="cancelled"/g)?.length, 20)
  })

  test('has a part of many that run, and leads to all', async () => {
    const many = Array.from({ length: 12 }, (_, index): readonly StoryEvent[] => [
      plan(index + 1, `Round ${index + 1}`, 47 * HOUR_MS),
      contest(index + 1, 'opened'),
    ]).flat()
    const page = await seeContest('/contests', many, 1)
    assert.equal(page.match(/<h3>/g)?.length, 8)
    assert.match(wordsOf(page), /See all 12/)
  })
})

suite('the outcome of a contest that was settled', () => {
  const lapsed = [...running, closed, prize, payout('30'), expiry('70'), paid]
  const owing = [...running, closed, prize, payout('100'), paid, correction('payout', '-100', 7)]
  const ends = [
    ['lapsed', lapsed, 'prizes never claimed'],
    ['owing', owing, 'prizes owed'],
  ] as const
  for (const [outcome, story, words] of ends) {
    test(`${outcome} is said by every page, and never “paid in full”`, async () => {
      const paths = ['/contests', '/contests?status=paid', '/contests/1/ledger', '/find?q=first']
      for (const path of paths) {
        const page = await seeContest(path, story)
        assert.ok(page.includes(`data-state="${outcome}">${words}<`), path)
        assert.doesNotMatch(wordsOf(page), /paid in full|all paid/i, path)
      }
    })
  }

  test('stands in the course of a contest that owes again', async () => {
    assert.match(
      wordsOf(await seeContest('/contests/1/ledger', owing)),
      /Settled event 8, [^]* closed to come What is owed is paid Not yet: a correction left it unpaid/,
    )
  })
})

suite('one list of contests', () => {
  test('marks a cancelled contest, and says that nothing was won', async () => {
    const page = await seeContest('/contests?status=paid', [...cancelled, payout('100', 'refund'), paid])
    assert.match(page, /data-state="cancelled">cancelled</)
    assert.doesNotMatch(page, /data-state="pa/)
    assert.match(page, />nothing was won</)
    assert.doesNotMatch(page, /nothing won yet/)
  })

  test('does not say so of a contest without prizes yet', async () => {
    const page = await seeContest('/contests?status=paying', [...running, closed])
    assert.doesNotMatch(page, /data-state="cancel|nothing was won/)
    assert.match(page, />nothing won yet</)
  })

  test('shows what was paid where a correction cancelled all that was won', async () => {
    const story = [...running, closed, prize, payout('60'), correction('prize', '-100', 6)]
    const page = await seeContest('/contests?status=paying', story)
    assert.match(page, /data-at="\/contests\/0\/prizesRedeemed"><data value="60\.000000000">60\.00</)
    assert.doesNotMatch(page, /nothing won yet/)
  })

  test('labels on a phone the moment that it shows', async () => {
    const ofOpen = await seeContest('/contests?status=running', running)
    assert.match(ofOpen, /<td data-label="closes">\s*<time/)
    const ofClosed = await seeContest('/contests?status=paying', [...running, closed, prize])
    assert.match(ofClosed, /<td data-label="closed">\s*<time/)
    assert.doesNotMatch(ofClosed, /data-label="closes"/)
  })

  test('gives the shell an address without a quote', async () => {
    const page = await seeContest("/contests?q=O'Brien", running)
    assert.match(page, /data-copy-curl="\/api\/v1\/contests\?q=O%27Brien"/)
  })

  test('isolates and escapes titles', async () => {
    const story = [deposit, plan(1, 'Round <b>', HOUR_MS), opened, pool]
    for (const path of ['/contests', '/contests?status=running', '/contests?q=round']) {
      assert.match(await seeContest(path, story), /<bdi>Round &lt;b&gt;<\/bdi>/)
    }
  })
})

suite('the contests', () => {
  test('are counted by state, each with a link', async () => {
    const page = await seeContest('/contests', [...running, closed, prize, plan(2, null, HOUR_MS)])
    const tabs = [
      ...page.matchAll(
        /<li>\s*<a href="(\/contests[^"]*)"[^>]*>([\w ]+) <small><span[^>]*><data value="(\d+)"/g,
      ),
    ]
    assert.deepEqual(
      tabs.map(([, href, tab, number]) => [href, tab, number]),
      [
        ['/contests', 'All', '2'],
        ['/contests?status=running', 'Running', '0'],
        ['/contests?status=paying', 'Paying', '1'],
        ['/contests?status=upcoming', 'To come', '1'],
        ['/contests?status=paid', 'Settled', '0'],
      ],
    )
  })

  test('of an outcome are a list of their own, which the list of all links', async () => {
    const voided = { type: 'contest', kind: 'cancelled', contestId: 1 } as const
    const story = [plan(1, 'First', HOUR_MS), plan(2, 'Second', HOUR_MS), voided]
    const page = await seeContest('/contests?outcome=cancelled&q=first', story)
    assert.match(page, /<h1>Contests found: cancelled<\/h1>/)
    assert.match(
      await seeContest('/contests', story),
      /<a href="\/contests\?outcome=cancelled">cancelled<\/a>/,
    )
    assert.doesNotMatch(page, /<li>\s*<a [^>]*aria-current/)
    assert.match(page, /<input type="hidden" name="outcome" value="cancelled" \/>/)
    assert.match(page, /data-state="cancelled"/)
    assert.doesNotMatch(page, /Second/)
    assert.match(
      await seeContest('/contests?outcome=owing', story),
      /No contest is settled and owing again now\./,
    )
  })

  test('of a state without contests say so, and link what is planned', async () => {
    const page = await seeContest('/contests?status=paying', [plan(1, 'First', HOUR_MS)])
    assert.match(page, /No contest is paying now\./)
    assert.match(page, /<a href="\/schedule">what is planned<\/a>/)
  })

  test('of an empty log say so', async () => {
    await using stage = await openApiStage({ story: [] })
    const page = await (await stage.get('/contests')).text()
    assert.match(page, /There has been no contest yet\./)
  })
})
