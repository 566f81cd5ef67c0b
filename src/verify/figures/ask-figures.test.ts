import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RICH_LOG } from '../../../test/stage/audit-stage.ts'
import { paidLog } from '../../../test/story/paid-log.ts'
import { type Change, publicLog } from '../../../test/story/public-log.ts'
import { MINUTE_MS, msOf } from '../../protocol/moment.ts'
import type { Source } from '../reading/source.ts'
import { askFigures, type CollectedFigures } from './ask-figures.ts'

const log = publicLog(RICH_LOG)
const payoutsBody = JSON.parse(Buffer.from(log.body('payouts') ?? []).toString()) as { now: { atMs: number } }

function ask(
  change?: Change,
  {
    is = 'service',
    now = log.now,
    source = log.source(change),
    chance = 0.37,
  }: Readonly<{ is?: Source['is']; now?: number; source?: Source; chance?: number }> = {},
): Promise<CollectedFigures> {
  return askFigures({
    source: { ...source, is },
    covers: 0,
    chance: () => chance,
    now: () => msOf(now),
    onAnswer: () => undefined,
  })
}

const faults = ({ wrong }: CollectedFigures): readonly string[] =>
  wrong.map(({ check, finding }) => `${check} | ${finding.place}: ${finding.what}`)

/** The service with one answer in another form. */
const answering =
  (at: string, edit: (json: Record<string, unknown>) => unknown): Change =>
  (path, body) =>
    path === at ? Buffer.from(JSON.stringify(edit(JSON.parse(Buffer.from(body ?? []).toString())))) : body

suite('the figures of a service', () => {
  test('are asked from a clock that differs by ten minutes at most', async () => {
    const stated = payoutsBody.now.atMs
    const limit = 10 * MINUTE_MS
    for (const now of [stated - limit, stated + limit])
      assert.deepEqual(faults(await ask(undefined, { now })), [])
    for (const now of [stated - limit - 1, stated + limit + 1]) {
      const found = faults(await ask(undefined, { now }))
      assert.match(
        found[0] ?? '',
        /^unpaid prizes \| payouts: its `now` is more than ten minutes from the local clock$/,
      )
    }
    const folder = await ask(undefined, { is: 'folder', now: stated + limit + 1 })
    assert.deepEqual(faults(folder), [], 'a folder may be of any age')
  })

  test('must all be there, unless they are those of a folder', async () => {
    const lacking: Change = (path, body) => (path === 'schedule' ? undefined : body)
    assert.deepEqual(faults(await ask(lacking)), ['schedule | schedule: is missing'])
    const folder = await ask(lacking, { is: 'folder' })
    assert.deepEqual(faults(folder), [])
    assert.deepEqual(folder.absent, [{ check: 'schedule', path: 'schedule' }])
  })

  test('are asked of contests by status, of each outcome, in each order, and by a word of a title', async () => {
    const titled = publicLog(paidLog([]))
    const { answers } = await ask(undefined, { source: titled.source(), now: titled.now })
    assert.deepEqual(
      answers.map(({ path }) => path).filter((path) => path.startsWith('contests?')),
      [
        'contests?status=closed',
        ...['cancelled', 'owing', 'lapsed', 'paid'].map((outcome) => `contests?outcome=${outcome}`),
        ...['closesAt', 'pool', 'prizesNotRedeemed'].map((sort) => `contests?sort=${sort}&limit=100`),
        'contests?q=a',
      ],
    )
  })

  test('are asked of the unpaid prizes of any kind that a contest had, as chance has it', async () => {
    const kinds = new Set<string>()
    for (let chance = 0; chance < 1; chance += 0.2) {
      const { answers } = await ask(undefined, { chance })
      for (const { path } of answers) if (path.startsWith('payouts?kind=')) kinds.add(path.slice(13))
    }
    const had = new Set(RICH_LOG.flatMap(({ event }) => (event.type === 'prize' ? [event.kind] : [])))
    assert.ok(had.size > 1)
    assert.deepEqual(kinds, had)
  })

  test('of a folder have no parameters', async () => {
    const { answers } = await ask(undefined, { is: 'folder' })
    assert.ok(answers.length > 5)
    assert.deepEqual(
      answers.filter(({ path }) => path.includes('?')),
      [],
    )
  })

  test('are not of more contests than there are events', async () => {
    const rows = (count: number): readonly object[] =>
      Array.from({ length: count }, (_, index) => ({ id: index + 1 }))
    const listing = (count: number): Change =>
      answering('contests', (json) => ({ ...json, contests: rows(count) }))
    const TOO_MANY = 'contests | contests: lists more contests than there are events'
    assert.ok(faults(await ask(listing(RICH_LOG.length + 1))).includes(TOO_MANY))
    assert.ok(!faults(await ask(listing(RICH_LOG.length))).includes(TOO_MANY))
    const empty = publicLog([])
    const source = empty.source(listing(1))
    assert.ok(faults(await ask(undefined, { source, now: empty.now })).includes(TOO_MANY))
  })

  test('are in pages that end, each at another address', async () => {
    const next = (address: unknown): Change => answering('payouts', (json) => ({ ...json, next: address }))
    const ENDLESS = 'unpaid prizes | payouts: its pages never end'
    for (const address of ['/api/v1/payouts?after=0', '/api/v1/contests?after=1', 7, '/api/v1/payouts'])
      assert.deepEqual(faults(await ask(next(address))), [ENDLESS], String(address))
    const loop: Change = (path, body) =>
      path.startsWith('payouts?after=3')
        ? next('/api/v1/payouts?after=3')('payouts', log.body('payouts'))
        : next('/api/v1/payouts?after=3')(path, body)
    assert.deepEqual(faults(await ask(loop)), [ENDLESS])
    const second = await ask((path, body) => next('/api/v1/payouts?after=3')(path, body))
    assert.deepEqual(faults(second), [])
    assert.equal(second.answers.filter(({ path }) => path === 'payouts?after=3').length, 1)
  })
})
