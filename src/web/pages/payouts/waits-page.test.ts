import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import { LAUNCH, plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { HOUR_MS, msOf } from '../../../protocol/moment.ts'
import { plainText } from '../../markup/page-lead.ts'

/** A contest with two prizes that has closed. The winner's can be paid at once, the runner-up's must be claimed. */
function closed(contestId: number): readonly StoryEvent[] {
  const contest = (kind: string): StoryEvent => ({ type: 'contest', kind, contestId })
  return [
    plan(contestId, null, HOUR_MS),
    contest('opened'),
    { type: 'pool', kind: 'sponsor', contestId, kots: '10' },
    contest('closed'),
    { type: 'prize', kind: 'winner', contestId, kots: '6' },
    { type: 'prize', kind: 'runner_up', contestId, kots: '4', details: { claim: true } },
  ]
}

function paid(contestId: number): readonly StoryEvent[] {
  const payout = { type: 'payout', contestId, tx: `transaction-${1_000 + contestId}` } as const
  return [
    ...closed(contestId),
    { ...payout, kind: 'winner', kots: '6' },
    { ...payout, kind: 'runner_up', kots: '4' },
    { type: 'contest', kind: 'paid', contestId },
  ]
}

/** A number of contests that were paid within minutes, and one that has waited for nearly two days. */
function storyOf(count: number): readonly StoryEvent[] {
  return [...Array.from({ length: count }, (_, index) => paid(index + 1)).flat(), ...closed(50)]
}

/** A page without line breaks, which shows nothing that its JSON lacks. */
async function see(story: readonly StoryEvent[], path: string, afterMs?: number): Promise<string> {
  await using stage = await openApiStage({ story })
  if (afterMs !== undefined) stage.setNow(msOf(LAUNCH + afterMs))
  const page = await (await stage.get(path)).text()
  const sources = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(sources))
  return page.replaceAll(/\s+/g, ' ')
}

const lates = (page: string): number => [...page.matchAll(/data-expr="late [^"]*">late</g)].length

suite('the usual wait', () => {
  test('is the heading of its page, with what became of the contests', async () => {
    const page = await see(storyOf(10), '/waits')
    assert.match(page, /<h1>Half of the paid contests were paid within <span [^>]*>an hour<\/span><\/h1>/)
    assert.match(page, /Paid in full <b><span data-at="\/contests\/paid"><data value="10"/)
    assert.match(page, /<a href="\/contests\/50\/ledger">Contest 50<\/a><\/span> has waited longest/)
    assert.match(await see([], '/waits'), /<h1>No contest closed in these days<\/h1>/)
  })

  test('stands on the start page, on that of unpaid prizes, and on that of a contest that waits', async () => {
    const start = plainText({ markup: await see(storyOf(10), '/') })
    assert.match(
      start,
      /Of all 11 closed contests, 10 were paid in full \(half of them within an hour\) and 1 still waits\. How long it takes/,
    )
    for (const path of ['/payouts', '/contests/50/ledger']) {
      const page = await see(storyOf(10), path)
      assert.match(
        page,
        /Of the <span [^>]*><data value="11">11<\/data><\/span> contests that closed since/,
        path,
      )
      assert.match(page, /<data value="10">10<\/data><\/span> were paid in full, half of them within/, path)
      assert.match(page, /<a href="\/waits">How long it takes<\/a>/, path)
    }
    assert.doesNotMatch(await see(storyOf(10), '/contests/1/ledger'), /has waited/)
  })

  test('is compared with that of a contest that waits, whose page says whose turn it is', async () => {
    const said = async (story: readonly StoryEvent[], afterMs?: number): Promise<string> => {
      const page = plainText({ markup: await see(story, '/contests/50/ledger', afterMs) })
      return /This one has waited (.*?) How long it takes/.exec(page)?.[1] ?? ''
    }
    const both = 'What is left waits for the platform to pay it and runners-up to ask for it.'
    assert.equal(await said(storyOf(9)), `46 hours. ${both}`)
    assert.equal(await said(storyOf(10)), `46 hours, longer than all 10 (an hour at most). ${both}`)
    const unclaimed = storyOf(10).slice(0, -1)
    assert.match(await said(unclaimed), /What is left waits for the platform to pay it\.$/)
    assert.equal(
      await said(storyOf(10), 2 * HOUR_MS),
      `less than an hour, within the usual time (nine of ten in an hour). ${both}`,
    )
    const [slow, ...others] = [paid(1), ...Array.from({ length: 9 }, (_, index) => paid(index + 2))]
    const late = [...slow.slice(0, 6), ...others.flat(), ...slow.slice(6), ...closed(50)]
    assert.equal(await said(late, 3 * HOUR_MS), `an hour, longer than nine of ten (an hour at most). ${both}`)
  })

  test('of a kind stands beside a prize that the platform pays without being asked', async () => {
    const words = async (count: number): Promise<string> =>
      plainText({ markup: await see(storyOf(count), '/contests/50/ledger') })
    assert.match(
      await words(10),
      /Winner: payable\. late The platform pays it without being asked, usually within an hour of the close\. 6/,
    )
    assert.match(await words(9), /Winner: payable\. The platform pays it without being asked\. 6/)
  })

  test('makes late only a payable prize, and only when ten contests were paid', async () => {
    for (const path of ['/payouts', '/contests/50/ledger']) {
      const page = await see(storyOf(10), path)
      assert.equal(lates(page), 1, path)
      assert.match(page, /Late means that it could be paid for more than <span [^>]*>an hour</, path)
      assert.equal(lates(await see(storyOf(9), path)), 0, path)
    }
  })
})
