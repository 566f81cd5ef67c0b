import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import type { StoryEvent } from '../../../../test/story/api-story.ts'
import { wordsOf } from '../../../../test/web/contest-story.ts'

suite('the page of the archive', () => {
  test('counts its events', async () => {
    const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1' }
    for (const [story, said] of [
      [[], 'Every event since the first, in a file for each month.'],
      [[deposit], '1 event in one month, in one file.'],
      [[deposit, deposit], '2 events in one month, in one file.'],
    ] as const) {
      await using stage = await openApiStage({ story })
      const page = wordsOf(await (await stage.get('/archive')).text())
      assert.ok(page.includes(said), said)
    }
  })
})
