import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LAUNCH, plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, msOf } from '../../../protocol/moment.ts'
import { plainText } from '../../markup/page-lead.ts'
import { seqOf } from '../../../protocol/seq.ts'

/** A contest that is settled, in seven events. */
const settled = (id: number): readonly StoryEvent[] => [
  plan(id, `Contest of ${id}`, HOUR_MS),
  { type: 'contest', kind: 'opened', contestId: id },
  { type: 'pool', kind: 'top_up', contestId: id, kots: '10' },
  { type: 'contest', kind: 'closed', contestId: id },
  { type: 'prize', kind: 'winner', contestId: id, kots: '10' },
  { type: 'payout', kind: 'winner', contestId: id, kots: '10', tx: `transaction-of-${id}` },
  { type: 'contest', kind: 'paid', contestId: id },
]

async function seeOn(stage: ApiStage, path: string): Promise<string> {
  const page = await (await stage.get(path)).text()
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return page
}

/** Headline and figure of a link preview. */
async function pictureOf(stage: ApiStage, path: string): Promise<string> {
  await stage.get(path)
  return plainText({ markup: /<title>[^]*<\/title>/.exec(stage.drawn.at(-1) ?? '')?.[0] ?? '' })
}

suite('a payment that was corrected after its contest had been settled', () => {
  test('takes “is settled” from the headline also while another contest pays', async () => {
    const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
    await using stage = await openApiStage({ story: [deposit, ...settled(1), ...settled(2).slice(0, 5)] })
    stage.append([
      { type: 'correction', kind: 'payout', contestId: 1, kots: '-10', details: { corrects: seqOf(7) } },
    ])
    const headline = '1 of 2 closed contests has been settled'
    const page = await seeOn(stage, '/')
    assert.ok(page.includes(`<title>${headline} · Daybook</title>`))
    assert.ok(plainText({ markup: page }).includes(`${headline} 20.00 KOTS of prizes still wait`))
    assert.equal(await pictureOf(stage, '/summary.png'), `${headline}. 20.00 KOTS of prizes still wait`)
    assert.match(
      plainText({ markup: await seeOn(stage, '/contests') }),
      /A correction left 10\.00 KOTS unpaid in Contest of 1 contest 1, which had been settled\./,
    )
  })
})

suite('two corrections in one contest that had been settled, which cancel each other', () => {
  test('take “is settled” from the headline', async () => {
    const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
    const tx = 'transaction-of-the-second'
    const second: readonly StoryEvent[] = [
      { type: 'prize', kind: 'second', contestId: 1, kots: '10' },
      { type: 'payout', kind: 'second', contestId: 1, kots: '10', tx },
    ]
    const story = [
      deposit,
      ...settled(1).slice(0, 6),
      ...second,
      ...settled(1).slice(6),
      ...settled(2).slice(0, 5),
    ]
    await using stage = await openApiStage({ story })
    stage.append([
      { type: 'correction', kind: 'payout', contestId: 1, kots: '-10', details: { corrects: seqOf(7) } },
      { type: 'correction', kind: 'prize', contestId: 1, kots: '-10', details: { corrects: seqOf(8) } },
    ])
    const page = await seeOn(stage, '/')
    assert.ok(page.includes('<title>1 of 2 closed contests has been settled · Daybook</title>'))
  })
})

suite('overpaid prizes that hide others that wait', () => {
  test('never make a page say that all are paid', async () => {
    const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
    await using stage = await openApiStage({ story: [deposit, ...settled(1), ...settled(2)] })
    // The payment of one contest and the prize of the other: their sum is zero.
    stage.append([
      { type: 'correction', kind: 'payout', contestId: 1, kots: '-10', details: { corrects: seqOf(7) } },
      { type: 'correction', kind: 'prize', contestId: 2, kots: '-10', details: { corrects: seqOf(13) } },
    ])
    const headline = 'A correction left 10.00 KOTS unpaid in contests that had been settled'
    const page = await seeOn(stage, '/')
    assert.ok(page.includes(`<title>${headline} · Daybook</title>`))
    const words = plainText({ markup: page })
    assert.ok(
      words.includes(`${headline} 10.00 KOTS of prizes still wait. After a correction, 10.00 KOTS more`),
      words,
    )
    assert.match(words, /Unpaid now 10\.00 10\.00 can be paid now/)
    assert.equal(await pictureOf(stage, '/summary.png'), `${headline}. 10.00 KOTS of prizes still wait`)
    const past = await pictureOf(stage, '/summary.png?at=2026-10-01T00:18Z')
    assert.match(past, /^All 2 closed contests have been settled\. /)
    assert.match(
      plainText({ markup: await seeOn(stage, '/contests') }),
      /Paying out A correction left 10\.00 KOTS unpaid in contests that had been settled\./,
    )
  })
})

const contest = (contestId: number, kind: string): StoryEvent => ({ type: 'contest', kind, contestId })

/** A contest that was cancelled, and gave back nothing, since its pool was empty. */
const cancelled = (id: number): readonly StoryEvent[] => [
  plan(id, `Contest of ${id}`, HOUR_MS),
  contest(id, 'cancelled'),
  contest(id, 'paid'),
]

async function wordsOf(story: readonly StoryEvent[]): Promise<string> {
  await using stage = await openApiStage({ story })
  const page = await (await stage.get('/')).text()
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return plainText({ markup: page })
}

suite('what became of the closed contests, on the start page', () => {
  const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '100' }

  test('adds up to all of them', async () => {
    assert.match(
      await wordsOf([deposit, ...settled(3), ...settled(4).slice(0, 6), ...cancelled(1), ...cancelled(2)]),
      /3 of 4 closed contests .* Of all 4 closed contests, 1 was paid in full within an hour, 2 were cancelled and 1 still waits\. How long/,
    )
  })

  test('says how many of them are in the range of the waits', async () => {
    await using stage = await openApiStage({
      story: [deposit, ...settled(1), ...settled(2), ...cancelled(3)],
    })
    stage.setNow(msOf(LAUNCH + 90 * DAY_MS + 10 * MINUTE_MS))
    assert.match(
      plainText({ markup: await seeOn(stage, '/') }),
      /Of all 3 closed contests, 2 closed since 1 Oct[ 0-9]*: 1 was paid in full within an hour and 1 was cancelled\. How long/,
    )
  })

  test('is said of the only one without a count', async () => {
    assert.match(
      await wordsOf(cancelled(1)),
      /The only closed contest is settled .* It was cancelled\. How long/,
    )
    assert.match(await wordsOf([deposit, ...settled(1)]), / It was paid in full within an hour\. How long/)
  })
})
