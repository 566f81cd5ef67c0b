import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { LAUNCH, plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { DAY_MS, HOUR_MS, msOf } from '../../../protocol/moment.ts'
import { seqOf } from '../../../protocol/seq.ts'
import { plainText } from '../../markup/page-lead.ts'

/** The start page of a log with this story, compared with its answers. */
async function see(
  story: readonly StoryEvent[] | undefined,
  change?: (on: ApiStage) => void,
): Promise<string> {
  await using stage = await openApiStage(story === undefined ? {} : { story })
  change?.(stage)
  const page = await (await stage.get('/')).text()
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return page
}

const textOf = (page: string, pattern: RegExp): string => plainText({ markup: pattern.exec(page)?.[1] ?? '' })
const headlineOf = (page: string): string => textOf(page, /<h1>([^]*?)<\/h1>/)
/** The lead, and what the bar below it names. */
const leadOf = (page: string): string =>
  `${textOf(page, /<p class="lead">([^]*?)<\/p>/)} ${textOf(page, /<ul class="seg-words">([^]*?)<\/ul>/)}`.trim()

const DEPOSIT: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
const TOP_UP: StoryEvent = { type: 'pool', kind: 'top_up', kots: '10' }
const play = (id: number): StoryEvent => ({ type: 'play', kind: 'entry', contestId: id, kots: '5' })
const opened = (id: number, hours = 1): readonly StoryEvent[] => [
  plan(id, `Contest of ${id}`, hours * HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: id },
]
const closed = (id: number, hours = 1): readonly StoryEvent[] => [
  ...opened(id, hours),
  { ...TOP_UP, contestId: id },
  { type: 'contest', kind: 'closed', contestId: id },
  { type: 'prize', kind: 'winner', contestId: id, kots: '10' },
]
const paid = (id: number): readonly StoryEvent[] => [
  ...closed(id),
  { type: 'payout', kind: 'winner', contestId: id, kots: '10', tx: `transaction-of-${id}` },
  { type: 'contest', kind: 'paid', contestId: id },
]

/** A running contest that has won 10 and paid a part. */
const daily = (id: number, kots: string): readonly StoryEvent[] => [
  ...opened(id),
  { ...TOP_UP, contestId: id },
  { type: 'prize', kind: 'daily', contestId: id, kots: '10' },
  { type: 'payout', kind: 'daily', contestId: id, kots, tx: `transaction-of-${id}` },
]

suite('the headline of the start page', () => {
  const told: readonly (readonly [
    when: string,
    story: readonly StoryEvent[],
    headline: string,
    lead: RegExp,
  ])[] = [
    [
      'nothing has happened',
      [],
      'Nothing has happened yet',
      /Each event appears here when it is published\./,
    ],
    ['no contest is planned', [DEPOSIT], 'No contest is planned yet', /No prize has been won yet\./],
    ['no contest has opened', [plan(1, null, HOUR_MS)], 'The first contest has not opened yet', /No prize/],
    [
      'contests only run',
      [...opened(1), ...opened(2)],
      '2 contests are running, none has closed yet',
      /No prize/,
    ],
    [
      'a running contest has paid all its prizes',
      [DEPOSIT, ...daily(1, '10')],
      '1 contest is running, none has closed yet',
      /^No prize is waiting to be paid\.$/,
    ],
    [
      'a running contest has a prize to pay, and the others are settled',
      [DEPOSIT, ...paid(1), ...paid(2), ...daily(3, '4')],
      'All 2 closed contests are settled',
      /^6\.00 KOTS of prizes still wait\. Payable 6\.00$/,
    ],
    ['one contest runs', opened(1), '1 contest is running, none has closed yet', /No prize/],
    [
      'one of three is paid',
      [DEPOSIT, ...paid(1), ...closed(2), ...closed(3)],
      '1 of 3 closed contests is settled',
      /^20\.00 KOTS of prizes still wait\. Payable 20\.00$/,
    ],
    [
      'two of three are paid',
      [DEPOSIT, ...paid(1), ...paid(2), ...closed(3)],
      '2 of 3 closed contests are settled',
      /^10\.00 KOTS/,
    ],
    [
      'none is paid',
      [DEPOSIT, ...closed(1), ...closed(2)],
      'None of 2 closed contests is settled yet',
      /wait/,
    ],
    [
      'the only one is not paid',
      [DEPOSIT, ...closed(1)],
      'The only closed contest is not yet settled',
      /wait/,
    ],
    [
      'the only one is paid',
      [DEPOSIT, ...paid(1)],
      'The only closed contest is settled',
      /^No prize is waiting/,
    ],
    [
      'all are paid',
      [DEPOSIT, ...paid(1), ...paid(2), ...opened(3)],
      'All 2 closed contests are settled',
      /^No prize is waiting to be paid\.$/,
    ],
    [
      'a cancelled contest is paid back',
      [
        DEPOSIT,
        ...paid(1),
        ...opened(2),
        { type: 'contest', kind: 'cancelled', contestId: 2 },
        { type: 'contest', kind: 'paid', contestId: 2 },
      ],
      'All 2 closed contests are settled',
      /^No prize is waiting/,
    ],
  ]
  for (const [when, story, headline, lead] of told) {
    test(`when ${when} is: ${headline}`, async () => {
      const page = await see(story)
      assert.equal(headlineOf(page), headline)
      assert.match(leadOf(page), lead)
      assert.ok(page.includes(`<title>${headline} · Daybook</title>`))
    })
  }

  test('never says that all are paid after a correction took a payment back', async () => {
    const page = await see([DEPOSIT, ...paid(1)], (stage) => {
      stage.append([
        {
          type: 'correction',
          kind: 'payout',
          contestId: 1,
          kots: '-10',
          tx: 'transaction-of-1',
          details: { corrects: seqOf(7) },
        },
      ])
    })
    assert.equal(headlineOf(page), 'A correction left 10.00 KOTS unpaid in contests that had been settled')
    assert.match(leadOf(page), /^10\.00 KOTS of prizes still wait\. Payable 10\.00$/)
  })
})

suite('the start page after a prize was corrected that had been paid', () => {
  const over: StoryEvent = {
    type: 'correction',
    kind: 'prize',
    contestId: 1,
    kots: '-10',
    details: { corrects: seqOf(6) },
  }
  const figuresOf = (page: string): string => textOf(page, /<dl class="figs">([^]*?)<\/dl>/)

  test('says that more was paid or has expired than was won, and of nothing that it is unpaid', async () => {
    const page = await see([DEPOSIT, ...paid(1)], (stage) => stage.append([over]))
    assert.equal(headlineOf(page), 'After a correction, 10.00 KOTS more was paid or has expired than was won')
    assert.equal(leadOf(page), 'After a correction, 10.00 KOTS more was paid or has expired than was won.')
    assert.match(figuresOf(page), /Unpaid now -10\.00 More was paid or has expired than was won/)
  })

  test('counts only what waits of the other prizes', async () => {
    const page = await see([DEPOSIT, ...paid(1), ...closed(2)], (stage) => {
      stage.append([{ ...over, kots: '-10' }])
    })
    assert.match(
      leadOf(page),
      /^10\.00 KOTS of prizes still wait\. After a correction, 10\.00 KOTS more was paid[^]* Payable 10\.00$/,
    )
  })
})

suite('the start page', () => {
  test('says why each part of the unpaid prizes waits, and from when more can be paid', async () => {
    const page = await see([
      DEPOSIT,
      ...opened(1),
      { type: 'pool', kind: 'top_up', contestId: 1, kots: '100' },
      { type: 'contest', kind: 'closed', contestId: 1 },
      { type: 'prize', kind: 'winner', contestId: 1, kots: '40', details: { claim: true } },
      { type: 'prize', kind: 'runner_up', contestId: 1, kots: '30' },
      {
        type: 'prize',
        kind: 'voter_share',
        contestId: 1,
        kots: '20',
        details: { unlocksAt: msOf(Date.UTC(2026, 9, 4)) },
      },
      {
        type: 'prize',
        kind: 'lucky_draw',
        contestId: 1,
        kots: '10',
        details: { reviewUntil: msOf(Date.UTC(2026, 9, 3, 18)) },
      },
    ])
    assert.equal(
      leadOf(page),
      '100 KOTS of prizes still wait. Payable 30.00 To be claimed 40.00 In review 10.00 Locked 20.00',
    )
    assert.match(
      page.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' '),
      / 30\.00 0000000 can be paid now , 40\.00 0000000 to be claimed, more from 3 Oct 18:00 UTC/,
    )
    assert.doesNotMatch(page, /\b(?:soon|pending)\b/i)
  })

  test('has what closes next, what opens next, and the newest payments', async () => {
    const page = await see([
      DEPOSIT,
      ...paid(1),
      ...opened(2, 3),
      ...opened(3, 2),
      plan(4, 'Later', 5 * DAY_MS),
    ])
    const listed = (label: string): readonly string[] =>
      [
        ...(new RegExp(`aria-label="${label}"[^]*?</ol>`).exec(page)?.[0] ?? '').matchAll(
          /href="\/contests\/(\d)\/ledger"/g,
        ),
      ].map(([, id = '']) => id)
    assert.deepEqual(listed('Closing next'), ['3', '2'])
    assert.deepEqual(listed('Opening next'), ['4'])
    const line = plainText({ markup: /<ol class="book"[^]*?<\/ol>/.exec(page)?.[0] ?? '' })
    assert.match(
      line,
      /^1 Oct 2026 00:06 UTC Paid to the winner ?Contest of 1 · event 7 · 1 Oct 2026 00:06 UTC 10\.00$/,
    )
  })

  test('counts the last day back from now, not from the newest event', async () => {
    const story = [DEPOSIT, ...paid(1), ...opened(2), play(2), { ...TOP_UP, contestId: 2 }]
    const figures = async (now: number): Promise<string> => {
      const page = await see(story, (stage) => stage.setNow(msOf(now)))
      return plainText({ markup: /<dl class="figs"[^]*?<\/dl>/.exec(page)?.[0] ?? '' })
    }
    const soon = await figures(LAUNCH + DAY_MS)
    assert.match(soon, /Paid in the last day 10\.00 .*the newest payment 1 Oct 2026/)
    assert.match(soon, /10\.00 more than a day ago/)
    assert.match(soon, /Spent in the last day 5\.00 KOTS in 1 play, 1 of them entries/)
    const late = await figures(LAUNCH + 5 * DAY_MS)
    assert.match(late, /Paid in the last day 0 .*the newest payment 1 Oct 2026/)
    assert.match(late, /the same as a day ago/)
    assert.match(late, /Spent in the last day 0 KOTS in 0 plays, 0 of them entries/)
  })

  test('has one search box with suggestions, which need no script', async () => {
    const page = await see(opened(1))
    const main = /<main[^]*<\/main>/.exec(page)?.[0] ?? ''
    assert.match(main, /<form class="find" role="search" action="\/find"/)
    assert.match(main, /<datalist id="titles">\s*<option value="Contest of 1">/)
  })

  test('shows the root of the checkpoint that it links', async () => {
    await using stage = await openApiStage()
    const page = await (await stage.get('/')).text()
    const [, size, root = ''] = (await (await stage.get('/api/v1/log/checkpoint')).text()).split('\n')
    assert.equal(size, '13')
    assert.ok(page.includes(`data-at="/api/v1/log/checkpoint#/2">${root}</code>`))
  })

  test('shows one state of the log, whatever is published while it is made', async () => {
    let publish = (): void => undefined
    await using stage = await openApiStage({
      reader: (reader) => ({
        ...reader,
        snapshot(ask) {
          const answer = reader.snapshot(ask)
          publish()
          return answer
        },
      }),
    })
    publish = () => stage.trade(1)
    const page = await (await stage.get('/')).text()
    publish = () => undefined
    const shown = /As of event[^]*?events\/(\d+)/.exec(page)?.[1]
    assert.equal(/verify\?seq=(\d+)/.exec(page)?.[1], shown)
    assert.match(
      textOf(page, /<section class="proof">([^]*?)<\/p>/),
      new RegExp(`One root hash covers all ${shown} events\\.`),
    )
    const head = stage.reader.snapshot((seen) => seen.head.seq)
    assert.ok(head > Number(shown), `${head} events, since some were published meanwhile`)
  })

  test('leads a past moment to the summary', async () => {
    await using stage = await openApiStage()
    const response = await stage.get('/?at=2026-10-01T00:05Z')
    assert.match(response.url, /\/summary\?at=2026-10-01T00:05Z$/)
  })

  test('has less than 800 elements', async () => {
    const page = await see(undefined)
    assert.ok((page.match(/<[a-z]/g)?.length ?? 0) < 800)
  })
})
