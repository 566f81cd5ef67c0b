import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { LAUNCH, type StoryEvent } from '../../../../test/story/api-story.ts'
import {
  closed,
  correction,
  expiry,
  payout,
  prize,
  running,
  smaller,
  wordsOf,
} from '../../../../test/web/contest-story.ts'
import { assertParity } from '../../../../test/web/parity/parity.ts'
import { DAY_MS, HOUR_MS, msOf } from '../../../protocol/moment.ts'

/** The page of the funds, compared with its JSON. */
async function fundsOf(stage: ApiStage, query = ''): Promise<string> {
  const page = await (await stage.get(`/funds${query}`)).text()
  assertParity(page, [await (await stage.get(`/api/v1/funds${query}`)).text()])
  return page
}

suite('the heading of the funds', () => {
  const told: readonly (readonly [when: string, more: readonly StoryEvent[], heading: string])[] = [
    ['a prize waits', [prize], 'The treasury holds 9.0 times the prizes that are still to be paid.'],
    ['all is paid', [prize, payout('100')], 'No prize is waiting to be paid now.'],
    [
      'more was paid than was won',
      [prize, payout('60'), correction('prize', '-100', 6)],
      'After a correction, 60.00 KOTS more was paid or has expired than was won.',
    ],
    [
      'more has expired than was left',
      [prize, payout('60'), expiry('40'), correction('prize', '-100', 6), smaller],
      'After a correction, 20.00 KOTS more was paid or has expired than was won.',
    ],
  ]
  for (const [when, more, heading] of told) {
    test(`when ${when} is: ${heading}`, async () => {
      await using stage = await openApiStage({ story: [...running, closed, ...more] })
      const page = await fundsOf(stage)
      assert.equal(wordsOf(/<h1>([^]*?)<\/h1>/.exec(page)?.[1] ?? ''), heading)
      assert.match(wordsOf(page), /the treasury does not include prizes, running pools or the loyalty fund\./)
    })
  }
})

suite('the change of the funds', () => {
  const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '100' }

  test('names the bucket at whose end it begins', async () => {
    await using stage = await openApiStage({ story: [deposit, deposit, deposit], apartMs: 31 * DAY_MS })
    stage.setNow(msOf(LAUNCH + 62 * DAY_MS + HOUR_MS))
    for (const [query, said] of [
      ['?from=2026-11-30', 'Change since the end of Mon 30 Nov'],
      ['?from=2026-10-01&to=2026-10-03&bucket=hour', 'Change since the end of the hour from 1 Oct 00:00 UTC'],
      ['?from=2026-10-01&bucket=month', 'Change since the end of Oct 2026'],
      ['?from=2026-10-05&bucket=week', 'Change since the end of the week from Mon 5 Oct'],
    ] as const) {
      const page = await fundsOf(stage, query)
      const [, heading = ''] = /<h2>\s*(Change[^]*?)<\/h2>/.exec(page) ?? []
      assert.equal(wordsOf(heading), said)
    }
    const months = wordsOf(await fundsOf(stage, '?from=2026-10-01&bucket=month'))
    assert.match(months, /since the end of Oct 2026 Treasury 200 .* To the end of the last month shown\./)
  })

  test('is left out of one bucket', async () => {
    await using stage = await openApiStage({ story: [deposit] })
    assert.doesNotMatch(await fundsOf(stage, '?from=2026-10-01&to=2026-10-02'), /<h2>\s*Change/)
  })
})
