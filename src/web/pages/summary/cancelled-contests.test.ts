import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { HOUR_MS } from '../../../protocol/moment.ts'
import { plainText } from '../../markup/page-lead.ts'

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

suite('cancelled contests on the start page', () => {
  test('are counted below the headline, which names them', async () => {
    const paid = [plan(3, 'Third', HOUR_MS), contest(3, 'opened'), contest(3, 'closed'), contest(3, 'paid')]
    assert.match(
      await wordsOf([...cancelled(1), ...cancelled(2), ...paid]),
      /All 3 closed contests are settled 2 closed contests were cancelled: a cancelled contest gives its pool back\. No prize/,
    )
  })

  test('are counted among all closed contests, also where the headline speaks of a part of them', async () => {
    const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '10' }
    const pool: StoryEvent = { type: 'pool', kind: 'top_up', contestId: 1, kots: '10' }
    const refunding = [plan(1, 'First', HOUR_MS), pool, contest(1, 'cancelled')]
    assert.match(
      await wordsOf([deposit, ...refunding, ...cancelled(2)]),
      /1 of 2 closed contests is settled 2 closed contests were cancelled: /,
    )
  })

  test('are named alone where no other contest has closed', async () => {
    assert.match(await wordsOf(cancelled(1)), /The only closed contest was cancelled No prize is waiting/)
  })
})
