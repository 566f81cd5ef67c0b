import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { closedContest, type StoryEvent } from '../../../../test/story/api-story.ts'
import { openApiStage } from '../../../../test/stage/api-stage.ts'

/** Words of the chart of a contest that won 100 and paid this much. */
async function wordsAfter(paid: string): Promise<readonly string[]> {
  const story: readonly StoryEvent[] = [
    ...closedContest('100'),
    { type: 'prize', kind: 'winner', contestId: 1, kots: '100' },
    { type: 'payout', kind: 'winner', contestId: 1, kots: paid, tx: 'transaction-1' },
  ]
  await using stage = await openApiStage({ story })
  const page = await (await stage.get('/contests/1/ledger')).text()
  const plot = /<figure class="chart paid-steps">[^]*?<\/figure>/.exec(page)?.[0] ?? ''
  return [...plot.matchAll(/<text\s+class="t(\d)[^"]*"\s+x="[^"]*"\s+y="([^"]*)"[^>]*>([^]*?)<\/text/g)].map(
    ([, style, y, words = '']) => `${style} ${y} ${words.replaceAll(/<[^>]*>/g, '')}`,
  )
}

suite('the chart of the payments of a contest', () => {
  test('has one label when all that was won is paid', async () => {
    const words = await wordsAfter('100')
    assert.deepEqual(new Set(words.map((one) => one.replace(/^\d \S+ /, ''))), new Set(['Won and paid 100']))
  })

  test('has two labels that no line crosses when almost all is paid', async () => {
    const words = await wordsAfter('95')
    const heights = words.map((one) => Number(one.split(' ')[1])).toSorted((one, other) => one - other)
    assert.deepEqual(
      new Set(words.map((one) => one.replace(/^\d \S+ /, ''))),
      new Set(['Won 100', 'Paid 95.00']),
    )
    // The upper words are above the upper line, the lower ones below the lower line.
    assert.ok((heights.at(-1) ?? 0) - (heights[0] ?? 0) >= 23, heights.join(' '))
  })
})
