import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { EventWire } from '../../protocol/event.ts'
import { DEFAULT_SITE } from '../markup/site.ts'
import { entryTitle } from './feed-title.ts'

const titleOf = (event: Partial<EventWire>): string =>
  entryTitle(
    {
      seq: 1,
      at: '2026-10-01T00:00:00.000Z',
      atMs: 0,
      contestId: null,
      kots: null,
      tx: null,
      ...event,
    } as EventWire,
    (id) => `Contest ${id}`,
    DEFAULT_SITE,
  )

suite('the title of a feed entry', () => {
  const told: readonly (readonly [title: string, event: Partial<EventWire>])[] = [
    ['Contest 93 closed', { type: 'contest', kind: 'closed', contestId: 93 }],
    ['5,719 KOTS added to the loyalty fund', { type: 'loyalty', kind: 'accrual', kots: '5719.046097795' }],
    ['The loyalty reward was planned', { type: 'loyalty', kind: 'scheduled' }],
    [
      'Payout to voters, 15.25 KOTS: Contest 9',
      { type: 'payout', kind: 'voter_share', contestId: 9, kots: '15.250000001' },
    ],
    ['Correction of a burn, -1,204 KOTS', { type: 'correction', kind: 'burn', kots: '-1204.000000001' }],
  ]
  for (const [title, event] of told) test(title, () => assert.equal(titleOf(event), title))
})
