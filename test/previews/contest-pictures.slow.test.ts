import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import { plan, type StoryEvent } from '../story/api-story.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { linesOf } from './picture-lines.ts'
import { countPixels, decodePng } from './png.ts'

const returned: StoryEvent = { type: 'pool', kind: 'returned', contestId: 1, kots: '2999000' }
const settled: StoryEvent = { type: 'contest', kind: 'paid', contestId: 1 }
const INK = [0x17, 0x20, 0x2b] as const

suite('the picture of a contest', () => {
  const closed = (title: string, more: readonly StoryEvent[]): readonly StoryEvent[] => [
    { type: 'treasury', kind: 'deposit', kots: '9000000' },
    plan(1, title, HOUR_MS),
    { type: 'contest', kind: 'opened', contestId: 1 },
    { type: 'pool', kind: 'top_up', contestId: 1, kots: '3000000' },
    { type: 'contest', kind: 'closed', contestId: 1 },
    ...more,
  ]
  const verdicts: readonly (readonly [said: string, more: readonly StoryEvent[]])[] = [
    ['Paid in full', [prize('1000'), paid('1000'), returned, settled]],
    ['All paid so far', [prize('1000'), paid('1000')]],
    [
      'Nothing is paid yet',
      [prize('1000'), paid('1000'), returned, settled, { ...correction('-1000', 7), kind: 'payout' }],
    ],
    ['99 % is paid', [prize('1000'), paid('999.999999999')]],
    ['Less than 1 % is paid', [prize('1000'), paid('0.5')]],
    ['Nothing is paid yet', [prize('1000')]],
    ['No prize is won yet', []],
    ['No prize was won', [{ type: 'pool', kind: 'returned', contestId: 1, kots: '3000000' }]],
    ['Nothing is left to pay', [prize('1000'), paid('600'), { ...prize('400'), type: 'expiry' }]],
    ['Overpaid', [prize('1000'), paid('1000'), correction('-1000')]],
    [
      'Overpaid 1,000 KOTS more are paid than were won. 1,000 KOTS of prizes still wait.',
      [prize('1000'), paid('1000'), prize('1000', 'voter_share'), correction('-1000')],
    ],
    [
      'Too much has expired 400 KOTS more are paid or expired than were won.',
      [prize('1000'), paid('600'), { ...prize('400'), type: 'expiry' }, correction('-1000'), prize('600')],
    ],
    ['1.23 million', [prize('2000000'), paid('1239999.999999999')]],
  ]
  for (const [said, more] of verdicts) {
    test(`says “${said}”`, async () => {
      await using told = await openApiStage({ story: closed('Round', more) })
      const lines = await linesOf('/contests/1/ledger.png', told)
      assert.ok(lines.join(' ').includes(said), lines.join(' | '))
    })
  }

  test('says that it was cancelled', async () => {
    const story: readonly StoryEvent[] = [
      plan(1, 'Round', HOUR_MS),
      { type: 'contest', kind: 'cancelled', contestId: 1 },
    ]
    await using told = await openApiStage({ story })
    const lines = await linesOf('/contests/1/ledger.png', told)
    assert.ok(lines.includes('Cancelled'), lines.join(' | '))
  })

  const titles: readonly (readonly [title: string, shown: string | null])[] = [
    ['Конкурс «Осень»', 'Конкурс «Осень»'],
    ['Ο γύρος της πόλης', 'Ο γύρος της πόλης'],
    ['Cuộc thi ảnh đẹp', 'Cuộc thi ảnh đẹp'],
    ['Party 🎉 of <b>Tom & Jerry</b> 🧑🏽‍🚀', 'Party of <b>Tom & Jerry</b>'],
    ['مسابقة الصور', null],
    ['תחרות תמונות', null],
    ['写真コンテスト', null],
    ['사진 대회', null],
    ['🎉🎉', null],
  ]
  for (const [title, shown] of titles) {
    test(`has the title “${title}” ${shown === null ? 'left out, as the font lacks its letters' : 'in its letters'}`, async () => {
      await using told = await openApiStage({ story: closed(title, []) })
      const lines = await linesOf('/contests/1/ledger.png', told)
      assert.ok(lines.includes('Contest 1'))
      if (shown !== null) assert.ok(lines.includes(shown), lines.join(' | '))
      else
        assert.deepEqual(
          lines.filter((line) => /[^ -\u024F…]/.test(line)),
          [],
        )
    })
  }

  test('cuts a long title, and fits every line into its width', async () => {
    await using told = await openApiStage({ story: closed('Wörter und Wörter '.repeat(11).trim(), []) })
    const pixels = decodePng(await (await told.get('/contests/1/ledger.png')).bytes())
    assert.equal(countPixels(pixels, [1150, 150, 1200, 630], INK), 0)
  })
})

function prize(kots: string, kind = 'winner'): StoryEvent {
  return { type: 'prize', kind, contestId: 1, kots }
}

function paid(kots: string): StoryEvent {
  return { type: 'payout', kind: 'winner', contestId: 1, kots, tx: 'transaction-0001' }
}

function correction(kots: string, corrects = 6): StoryEvent {
  return { type: 'correction', kind: 'prize', contestId: 1, kots, details: { corrects: corrects as never } }
}
