import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LAUNCH, type StoryEvent } from '../../../../test/story/api-story.ts'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import { drawnBars } from '../../../../test/web/drawn-bars.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { parseMonth } from '../../../protocol/moment.ts'
import type { LoyaltyRuns } from '../../../protocol/endpoints/contest-endpoints.ts'

/** Events of a month's reward: its input and its output. */
function rewarded(name: string, kots: string): readonly StoryEvent[] {
  const month = parseMonth(name)
  assert.ok(month !== undefined)
  const digest = `sha256:${'1a'.repeat(32)}`
  return [
    { type: 'loyalty', kind: 'input', details: { month, digest } },
    { type: 'loyalty', kind: 'output', kots, details: { month, digest, recipients: 3 } },
  ]
}

const DEPOSIT: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
const ACCRUAL: StoryEvent = { type: 'loyalty', kind: 'accrual', kots: '900' }
const THREE: readonly StoryEvent[] = [
  DEPOSIT,
  ACCRUAL,
  ...rewarded('2026-07', '100'),
  ...rewarded('2026-08', '300'),
  ...rewarded('2026-09', '200.5'),
]

suite('the table of rewards', () => {
  test('labels the moment of each row for narrow screens, which hide the head', async () => {
    await using stage = await openApiStage({ story: THREE })
    const page = await (await stage.get('/loyalty/runs')).text()
    assert.equal(page.match(/<td class="all" data-label="Planned for">/g)?.length, 3)
  })
})

suite('the page of rewards', () => {
  const headingOf = async (story: readonly StoryEvent[]): Promise<string> => {
    await using stage = await openApiStage({ story })
    const page = await (await stage.get('/loyalty/runs')).text()
    const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
    assertParity(page, await Promise.all(answers))
    const heading = /<h1>([^]*?)<\/h1>/.exec(page)?.[1] ?? ''
    return heading
      .replaceAll(/<i>[^<]*<\/i>|<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
  }
  const payout = (kots: string): StoryEvent => {
    const month = parseMonth('2026-09')
    assert.ok(month !== undefined)
    return { type: 'payout', kind: 'loyalty', kots, details: { month } }
  }
  const september = [DEPOSIT, ACCRUAL, ...rewarded('2026-09', '200.5')]

  test('says first how much of the newest reward is paid', async () => {
    assert.equal(
      await headingOf(september),
      'The loyalty reward of September 2026 is computed and not yet paid: 200 KOTS for 3 players.',
    )
    assert.equal(
      await headingOf([...september, payout('200.4')]),
      '99.9% of the loyalty reward of September 2026 is paid.',
    )
    assert.equal(
      await headingOf([...september, payout('200.5')]),
      'The loyalty reward of September 2026 is paid: 200 KOTS for 3 players.',
    )
  })

  test('says that no reward is computed or announced', async () => {
    assert.equal(await headingOf([DEPOSIT]), 'No loyalty reward has been announced yet.')
    const [input] = rewarded('2026-09', '1')
    assert.ok(input !== undefined)
    assert.equal(await headingOf([DEPOSIT, input]), 'The first loyalty reward is being prepared.')
  })

  test('says that the only reward is zero', async () => {
    assert.equal(
      await headingOf([DEPOSIT, ...rewarded('2026-09', '0')]),
      'The loyalty reward of September 2026 is zero.',
    )
  })

  test('says when a reward was planned that is not computed in time', async () => {
    const month = parseMonth('2026-09')
    assert.ok(month !== undefined)
    const planned: StoryEvent = { type: 'loyalty', kind: 'scheduled', details: { month, paysAt: LAUNCH } }
    await using stage = await openApiStage({ story: [DEPOSIT, planned] })
    assert.match(await (await stage.get('/loyalty/runs')).text(), /The reward of [^]*? was planned for/)
  })
})

suite('the chart of rewards', () => {
  test('has a bar for each month, and states their sum and the greatest', async () => {
    await using stage = await openApiStage({ story: THREE })
    const page = await (await stage.get('/loyalty/runs')).text()
    const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
    assertParity(page, await Promise.all(answers))
    assert.equal(drawnBars(page, 'f1', 3).length, 3)
    const { runs }: LoyaltyRuns = JSON.parse((await answers[0]) ?? '')
    const sentence = /<figcaption>([^]*?)<\/figcaption>/.exec(page)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? ''
    assert.equal(
      sentence.replaceAll(/\s+/g, ' ').trim(),
      '600.500000000 KOTS in all these months, the most for August 2026.',
    )
    const described = /<desc[^>]*>([^<]*)</.exec(page)?.[1]
    const told = runs.toReversed().map(({ month, total }) => `${month}: ${total} KOTS.`)
    assert.equal(described, told.join(' '))
  })

  test('is left out for a single month, but exists as a picture', async () => {
    await using stage = await openApiStage({ story: THREE.slice(0, 4) })
    assert.doesNotMatch(await (await stage.get('/loyalty/runs')).text(), /<figure/)
    assert.match(await (await stage.get('/loyalty/runs.svg')).text(), /2026-07: 100\.000000000 KOTS\./)
  })

  test('is an empty picture while no reward is computed', async () => {
    await using stage = await openApiStage({ story: [DEPOSIT] })
    const picture = await stage.get('/loyalty/runs.svg')
    assert.equal(picture.status, 200)
    assert.match(await picture.text(), /no month yet/)
  })
})
