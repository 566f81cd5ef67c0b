import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { COMPANION_RULES, type LoggedEvent } from './companion-rules.ts'
import type { History } from './history.ts'

const ROOTS = ['r0', 'r1', 'r2', 'r3', 'r4']
const AT_MS = 1_000
const draft = (kots: string): History['outbox'][number]['draft'] => ({
  ref: '',
  type: 'play',
  kind: 'entry',
  kots,
})
const EVENTS: readonly LoggedEvent[] = [1, 2, 3, 4].map((seq) => ({
  seq,
  atMs: AT_MS,
  type: seq % 2 === 0 ? 'play' : 'payout',
  kind: seq % 2 === 0 ? 'entry' : 'winner',
  contestId: null,
  kots: `${seq}.000000001`,
  tx: seq === 3 ? 'tx' : null,
}))
const visit = (from: number, to = from): History['visits'][number] => ({
  subscriber: 1,
  node: 'a',
  type: 'play',
  after: 0,
  runs: [{ from, to }],
  refused: null,
})

/** A history of four events that keeps the promises of everything beside the nodes. */
const SOUND: History = {
  entries: ['line\ndetails of 1', 'line', 'line', 'line'],
  requests: [],
  input: [],
  visits: [visit(2), visit(4)],
  firstLines: new Map(),
  discords: [],
  trees: [],
  standstills: [],
  auditFaults: [],
  recoveries: [],
  firstSeenMs: new Map([[3, AT_MS]]),
  firstDetails: new Map([[1, 'details of 1']]),
  bare: new Set([2]),
  finals: new Map([['tx', AT_MS]]),
  outbox: [
    { draft: draft('2.000000001'), seq: 2 },
    { draft: draft('4.000000001'), seq: 4 },
  ],
  witnessed: [
    { node: 'a', size: 1, root: 'r1' },
    { node: 'b', size: 0, root: 'r0' },
    { node: 'a', size: 3, root: 'r3' },
  ],
  backups: [{ node: 'backup 1', size: 2, root: 'r2', least: 2 }],
}

function violationsOf(changes: Partial<History>): string {
  const history = { ...SOUND, ...changes }
  return Object.values(COMPANION_RULES)
    .flatMap((rule) => [...rule(history, EVENTS, () => ROOTS)])
    .join('\n')
}

const DOCTORED: readonly (readonly [broken: string, changes: Partial<History>, report: RegExp])[] = [
  [
    'an event shown before its transaction is final',
    { finals: new Map([['tx', AT_MS + 5]]) },
    /^3 was shown 5 ms before its transaction was final$/,
  ],
  [
    'an event whose transaction is never final',
    { finals: new Map([['tx', null]]) },
    /^3 is of a transaction that is never final$/,
  ],
  [
    'rows of an outbox in another order',
    { outbox: SOUND.outbox.toReversed() },
    /^row 2 is at 2, before an earlier row at 4$/,
  ],
  [
    'a row that is marked with the seq of another event',
    { outbox: [{ draft: draft('2.000000001'), seq: 3 }] },
    /^row 1 is marked as 3, which has another event$/,
  ],
  [
    'a witnessed tree of another history',
    { witnessed: [{ node: 'a', size: 2, root: 'r9' }] },
    /^a showed a witnessed tree of 2 events that is another one$/,
  ],
  [
    'a witnessed tree that goes back',
    { witnessed: SOUND.witnessed.toReversed() },
    /^a showed a witnessed tree of 1 events after one of 3$/,
  ],
  [
    'a backup that is no beginning of the log',
    { backups: [{ node: 'backup 1', size: 2, root: 'r3', least: 0 }] },
    /^backup 1 has another tree of 2 events$/,
  ],
  [
    'a backup that lacks what was signed before it',
    { backups: [{ node: 'backup 1', size: 2, root: 'r2', least: 3 }] },
    /^backup 1 has 2 events, although 3 were signed before it$/,
  ],
  [
    'a filtered stream that misses an event',
    { visits: [visit(2)] },
    /^subscriber 1 of play received undefined, not 4$/,
  ],
  [
    'a filtered stream that shows an event twice',
    { visits: [visit(2), visit(2), visit(4)] },
    /^subscriber 1 of play received 2, not 4$/,
  ],
  [
    'a filtered stream that shows another event',
    { visits: [visit(2, 4)] },
    /^subscriber 1 of play received 3, not 4$/,
  ],
  [
    'other details in a stream',
    { firstDetails: new Map([[1, 'others']]) },
    /^a stream showed other details of 1$/,
  ],
  ['an event without its details', { bare: new Set([1]) }, /^a stream showed 1 without its details$/],
]

suite('the checker of what runs beside the nodes', () => {
  test('finds nothing in a history that keeps all promises', () => assert.equal(violationsOf({}), ''))

  for (const [broken, changes, report] of DOCTORED)
    test(`finds ${broken}`, () => assert.match(violationsOf(changes), report))
})
