import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { closedContest, LAUNCH, type StoryEvent } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { DAY_MS, HOUR_MS, msOf } from '../../../protocol/moment.ts'
import { seqOf } from '../../../protocol/seq.ts'

const CLOSED: readonly StoryEvent[] = closedContest('500', '1000')

const prize = (kind: string, kots: string, details: StoryEvent['details'] = {}): StoryEvent => ({
  type: 'prize',
  kind,
  contestId: 1,
  kots,
  details,
})

async function seeOn(stage: ApiStage, path: string): Promise<string> {
  const page = await (await stage.get(path)).text()
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return page
}

async function see(path: string, story: readonly StoryEvent[]): Promise<string> {
  await using stage = await openApiStage({ story })
  return await seeOn(stage, path)
}

/** Text of an element of a page, in one line. */
function textIn(page: string, pattern: RegExp): string {
  const shown = page.replaceAll(/<i>[^<]*<\/i>/g, '')
  return (pattern.exec(shown)?.[1] ?? '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[,.;])/g, '')
    .trim()
}

const headline = (page: string): string => textIn(page, /<h1>([^]*?)<\/h1>/)
const standfirst = (page: string): string => textIn(page, /<p class="lead"[^>]*>([^]*?)<\/p>/)

const lockedFor = (days: number): StoryEvent['details'] => ({ unlocksAt: msOf(LAUNCH + days * DAY_MS) })

suite('the page of unpaid prizes', () => {
  const headlines: readonly (readonly [state: string, won: readonly StoryEvent[], said: string])[] = [
    [
      'of which a part waits',
      [
        prize('winner', '60'),
        prize('runner_up', '30.5', { claim: true }),
        prize('voter_share', '7', lockedFor(9)),
      ],
      '60.00 KOTS of prizes can be paid now, 30.50 to be claimed, 7.00 more by 10 Oct 00:00 UTC',
    ],
    [
      'of which a part waits until tomorrow',
      [prize('winner', '60'), prize('voter_share', '7', lockedFor(3))],
      '60.00 KOTS of prizes can be paid now, 7.00 more by 4 Oct 00:00 UTC',
    ],
    ['that can all be paid', [prize('winner', '60')], 'All 60.00 KOTS of unpaid prizes can be paid now'],
    [
      'of which a part is to be claimed',
      [prize('winner', '60'), prize('runner_up', '30.5', { claim: true })],
      '60.00 KOTS of prizes can be paid now, 30.50 to be claimed',
    ],
    [
      'of which a part is to be claimed, and a part waits',
      [prize('runner_up', '30.5', { claim: true }), prize('voter_share', '7', lockedFor(9))],
      '30.50 KOTS of prizes are to be claimed, 7.00 more by 10 Oct 00:00 UTC',
    ],
    [
      'that are all to be claimed',
      [prize('winner', '60', { claim: true })],
      'All 60.00 KOTS of unpaid prizes are to be claimed',
    ],
    [
      'that all wait',
      [prize('winner', '60', lockedFor(9)), prize('runner_up', '30', lockedFor(40))],
      '90.00 KOTS of prizes wait; the first can be paid from 10 Oct 00:00 UTC',
    ],
  ]
  for (const [state, won, said] of headlines) {
    test(`says in its headline how much is unpaid, for prizes ${state}`, async () => {
      assert.equal(headline(await see('/payouts', [...CLOSED, ...won])), said)
    })
  }

  test('says in its headline that nothing is unpaid', async () => {
    const page = await see('/payouts', CLOSED)
    assert.equal(headline(page), 'No prize is unpaid')
    assert.equal(standfirst(page), 'Every prize won so far is paid, or was never claimed.')
  })

  test('of an empty book says that the book is empty', async () => {
    assert.equal(standfirst(await see('/payouts', [])), 'The log is still empty.')
  })

  test('names a kind that the operator called `constructor`', async () => {
    const page = await see('/payouts', [...CLOSED, prize('constructor', '60')])
    assert.match(page, /<span data-kind="constructor">Constructor<\/span>/)
  })

  test('says how much more was paid or has expired than was won, and why', async () => {
    const expired: StoryEvent = { type: 'expiry', kind: 'winner', contestId: 1, kots: '60' }
    const corrected: StoryEvent = {
      type: 'correction',
      kind: 'prize',
      contestId: 1,
      kots: '-60',
      details: { corrects: 6 as never },
    }
    const story: readonly StoryEvent[] = [
      ...CLOSED,
      prize('winner', '60'),
      { type: 'payout', kind: 'winner', contestId: 1, kots: '60', tx: 'transaction-0001' },
      corrected,
    ]
    const page = await see('/payouts', story)
    assert.equal(headline(page), '60.00 KOTS more was paid or has expired than was won')
    assert.equal(standfirst(page), 'That is because a prize was corrected afterwards.')
    assert.match(page, /<dt id="overpaid">/)
    const lapsed = await see('/payouts', [...CLOSED, prize('winner', '60'), expired, corrected])
    assert.equal(headline(lapsed), '60.00 KOTS more was paid or has expired than was won')
    const both = await see('/payouts', [...story, prize('voter_share', '7')])
    assert.equal(headline(both), 'All 7.00 KOTS of unpaid prizes can be paid now')
    assert.match(standfirst(both), /^60\.00 KOTS more was paid or has expired than was won, because/)
  })

  test('says that everything is paid in one contest', async () => {
    const page = await see('/payouts?contestId=1', [
      ...CLOSED,
      prize('winner', '60'),
      { type: 'payout', kind: 'winner', contestId: 1, kots: '60', tx: 'transaction-0001' },
    ])
    assert.equal(headline(page), 'No prize of this contest is unpaid')
    assert.equal(standfirst(page), 'Everything that was won is paid.')
    assert.match(page, /<a href="\/contests\/1\/ledger">The contest, with all its payments<\/a>/)
  })

  test('does not say that an expired prize is paid', async () => {
    const page = await see('/payouts?contestId=1', [
      ...CLOSED,
      prize('winner', '60', { claim: true }),
      { type: 'expiry', kind: 'winner', contestId: 1, kots: '60' },
    ])
    assert.equal(standfirst(page), 'Everything that was won is paid, or was never claimed.')
  })

  const unwon: readonly (readonly [state: string, story: readonly StoryEvent[]])[] = [
    ['is planned', CLOSED.slice(0, 2)],
    ['is running', CLOSED.slice(0, 3)],
    ['closed, and whose prizes are still to be published', CLOSED],
    ['was cancelled', [...CLOSED.slice(0, -1), { type: 'contest', kind: 'cancelled', contestId: 1 }]],
  ]
  for (const [state, story] of unwon) {
    test(`does not say so of a contest that ${state}`, async () => {
      const page = await see('/payouts?contestId=1', story)
      assert.equal(headline(page), 'No prize is won in this contest')
      assert.doesNotMatch(page, /is unpaid<|Everything that was won/)
    })
  }

  test('does not say so of a contest that does not exist', async () => {
    await using stage = await openApiStage({ story: CLOSED })
    const page = await (await stage.get('/payouts?contestId=99')).text()
    assert.equal(headline(page), 'No contest has this number')
    assert.doesNotMatch(page, /is unpaid<|Everything that was won|contests\/99/)
  })

  test('lists prizes that wait for a date by day, the soonest first, with a total for each day', async () => {
    const page = await see('/payouts', [
      ...CLOSED,
      prize('winner', '60', lockedFor(9)),
      prize('runner_up', '30', { reviewUntil: msOf(LAUNCH + 4 * DAY_MS) }),
      prize('lucky_draw', '10', { reviewUntil: msOf(LAUNCH + 4 * DAY_MS + HOUR_MS) }),
    ])
    const days = [...page.matchAll(/<li class="day"[^>]*>([^]*?)data-expr="([^"]*)"/g)]
    assert.deepEqual(
      days.map(([, day = '', expression]) => [day.replaceAll(/<[^>]*>?|\s/g, ''), expression]),
      [
        ['Mon5OctUTC', 'sum /unpaid/1/kots /unpaid/2/kots'],
        ['Sat10OctUTC', 'sum /unpaid/0/kots'],
      ],
    )
    assert.doesNotMatch(page, /Can be paid or claimed now/)
  })

  test('names a running contest by its newest title, for a prize that it has won already', async () => {
    const renamed = { type: 'contest', kind: 'renamed', contestId: 1, details: { title: 'Runs' } } as const
    const won = [...CLOSED.slice(0, -1), renamed, prize('daily', '60')]
    const page = await see('/payouts', won)
    assert.match(page, /<bdi>Runs<\/bdi><\/a>/)
  })

  test('names a settled contest that a correction left owing', async () => {
    const page = await see('/payouts', [
      ...CLOSED,
      prize('winner', '500'),
      { type: 'payout', kind: 'winner', contestId: 1, kots: '500', tx: 'tx-1' },
      { type: 'contest', kind: 'paid', contestId: 1 },
      { type: 'correction', kind: 'payout', contestId: 1, kots: '-500', details: { corrects: seqOf(7) } },
    ])
    assert.match(page, /<bdi>First<\/bdi><\/a>/)
  })

  test('says why each prize waits, and for how long', async () => {
    const page = await see('/payouts', [
      ...CLOSED,
      prize('winner', '60', lockedFor(9)),
      prize('voter_share', '7'),
    ])
    const lines = [...page.matchAll(/<li data-row[^>]*>([^]*?)<\/li>/g)].map(([, line = '']) =>
      line
        .replaceAll(/<i>[^<]*<\/i>|<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    assert.deepEqual(lines, [
      '00:00 UTC First contest 1 Winner · locked · in 7 days 60.00',
      '1 Oct First contest 1 Voters · payable · for 1 d 23 h 7.00',
    ])
  })

  test('has a picture, even when no prize waits', async () => {
    await using stage = await openApiStage({ story: CLOSED })
    const svg = await (await stage.get('/payouts.svg?contestId=1')).text()
    assert.match(svg, /Unpaid prizes of contest 1/)
    assert.match(svg, /2026-10-03 to 2026-11-01/)
    assert.match(svg, /Nothing waits for a date\./)
  })

  test('explains each state, and that it names nobody', async () => {
    const page = await see('/payouts', CLOSED)
    for (const state of ['locked', 'in_review', 'awaiting_claim', 'payable']) {
      assert.match(page, new RegExp(`<dt id="${state}">`))
    }
    assert.match(page, /nobody’s name or wallet/)
  })

  test('searches a contest by number or name, and suggests those with unpaid prizes', async () => {
    const page = await see('/payouts', [...CLOSED, prize('winner', '60')])
    assert.match(page, /<form[^>]*action="\/find"[^>]*>\s*<input[^>]*name="q"[^>]*list="contests"/)
    assert.match(page, /<option value="contest 1">First<\/option>/)
  })

  test('moves a prize from one group to the other at its date', async () => {
    await using stage = await openApiStage({ story: [...CLOSED, prize('winner', '60', lockedFor(9))] })
    assert.doesNotMatch(await seeOn(stage, '/payouts'), /<h2>Can be paid or claimed now/)
    stage.setNow(msOf(LAUNCH + 9 * DAY_MS))
    const page = await seeOn(stage, '/payouts')
    assert.match(page, /<h2>Can be paid or claimed now/)
    assert.doesNotMatch(page, /When they can be paid/)
  })

  test('links the next page of a long answer, and gives a day no total that others may add to', async () => {
    const story = [...CLOSED, prize('winner', '60', lockedFor(9)), prize('runner_up', '30', lockedFor(9))]
    const page = await see('/payouts?limit=1', story)
    assert.match(page, /<a rel="next" href="\/payouts\?after=6&amp;limit=1">Next page<\/a>/)
    assert.equal(headline(page), '90.00 KOTS of prizes wait')
    assert.doesNotMatch(textIn(page, /<li class="day"[^>]*>([^]*?)<\/li>/), /60/)
  })

  test('shows a hundred lines of a long list, and says that there are more', async () => {
    const minutes = Array.from({ length: 150 }, (_, minute) => minute * 60_000)
    const lots = minutes.map((ms) => prize('winner', '1', { unlocksAt: msOf(LAUNCH + 9 * DAY_MS + ms) }))
    const page = await see('/payouts', [...CLOSED, ...lots])
    assert.equal([...page.matchAll(/<li data-row/g)].length, 100)
    assert.match(page, /Not all are shown here/)
  })
})
