import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { History, NodeState, SentRequest, Visit } from './history.ts'
import { rootsOf, violationsOf } from './history-checker.ts'

const NODES = ['one', 'two'] as const
const EVENTS = 12
const AT_MS = Date.UTC(2026, 10, 1)

function line(seq: number, amount = seq): string {
  const kots = `${amount}.000000001`
  const at = new Date(AT_MS + seq).toISOString()
  const fields = {
    seq,
    type: 'treasury',
    kind: 'deposit',
    at,
    atMs: AT_MS + seq,
    contestId: null,
    kots,
    tx: null,
  }
  return JSON.stringify(fields)
}

/** A request of one draft, acknowledged by both nodes. */
function request(seq: number): SentRequest {
  return {
    publisher: `p${seq % 2}`,
    drafts: [{ ref: `ref-${seq}`, type: 'treasury', kind: 'deposit', kots: `${seq}.000000001` }],
    firstSentMs: seq * 10,
    acks: NODES.map((node, index) => ({ node, seqs: [seq], atMs: seq * 10 + 5 + index })),
    holds: [],
    refusals: [],
    expected: 'published',
    unknowns: 0,
  }
}

function visit(subscriber: number, node: string, from: number, to: number): Visit {
  return { subscriber, node, after: from - 1, runs: [{ from, to }], refused: null }
}

function stateOf(node: string, entries: readonly string[]): NodeState {
  const answers = new Map([
    ['/summary', 'a'],
    ['/events', 'b'],
  ])
  return { node, head: entries.length, root: rootsOf(entries).at(-1) ?? '', answers }
}

/** History of two publishers, two subscribers and two nodes that keep all promises. */
function sound(): History {
  const seqs = Array.from({ length: EVENTS }, (_, index) => index + 1)
  const entries = seqs.map((seq) => line(seq))
  const half = EVENTS / 2
  return {
    entries,
    requests: seqs.slice(0, -2).map(request),
    input: seqs.slice(-2).flatMap((seq) => request(seq).drafts),
    visits: [
      visit(0, 'one', 1, half),
      visit(0, 'two', half + 1, EVENTS),
      visit(1, 'two', 1, 2),
      visit(1, 'one', 3, EVENTS),
    ],
    firstLines: new Map(seqs.map((seq) => [seq, line(seq)])),
    discords: [],
    trees: seqs.map((size) => ({ node: 'one', size, root: rootsOf(entries)[size] ?? '' })),
    standstills: [NODES.map((node) => stateOf(node, entries))],
    auditFaults: [],
    recoveries: [{ faults: ['kill one'], agreeMs: 900, publishMs: 1_200, slowness: 1 }],
    firstSeenMs: new Map(),
    firstDetails: new Map(),
    bare: new Set(),
    finals: new Map(),
    outbox: [],
    witnessed: [],
    backups: [],
  }
}

function withRequest(seq: number, changes: Partial<SentRequest>): History {
  const whole = sound()
  const requests = whole.requests.map((one, index) => (index === seq - 1 ? { ...one, ...changes } : one))
  return { ...whole, requests }
}

function withEntries(change: (entries: string[]) => void): History {
  const whole = sound()
  const entries = [...whole.entries]
  change(entries)
  const trees = whole.trees.map((tree) => ({ ...tree, root: rootsOf(entries)[tree.size] ?? '' }))
  const firstLines = new Map(entries.map((entry, index) => [index + 1, entry]))
  return { ...whole, entries, trees, firstLines, standstills: [NODES.map((node) => stateOf(node, entries))] }
}

function withVisits(...visits: readonly Visit[]): History {
  return { ...sound(), visits }
}

function withState(changes: Partial<NodeState>): History {
  const whole = sound()
  const [[one, two] = []] = whole.standstills
  assert.ok(one !== undefined && two !== undefined)
  return { ...whole, standstills: [[one, { ...two, ...changes }]] }
}

const refusal = { node: 'two', status: 409, code: 'wrong-state' }

/** A broken promise, the history that shows it, and the words that report it. */
const DOCTORED: readonly (readonly [broken: string, history: History, report: RegExp])[] = [
  [
    'an acknowledged event that is lost',
    withEntries((entries) => entries.splice(9, 3)),
    /ref-10 was acknowledged by one at 10 and is lost/,
  ],
  [
    'an acknowledged event that another one has replaced',
    withEntries((entries) => entries.splice(6, 1, line(7, 99))),
    /ref-7 was acknowledged by one at 7, which has another event/,
  ],
  ['an event that comes twice', withEntries((entries) => entries.push(line(13, 5))), /ref-5 is at 5, 13/],
  [
    'an event that moved',
    withEntries((entries) => entries.splice(3, 2, line(4, 5), line(5, 4))),
    /ref-4 was acknowledged by one at 4, which has another event/,
  ],
  [
    'an event that nobody sent',
    withEntries((entries) => entries.push(line(13, 77))),
    /nobody sent the event at 13/,
  ],
  [
    'a held draft that is lost',
    {
      ...withEntries((entries) => entries.splice(9, 3)),
      requests: [...sound().requests.slice(0, 9), { ...request(10), acks: [], holds: ['two'] }],
    },
    /ref-10 was held by two and is not in the log/,
  ],
  [
    'an event whose transaction failed',
    withRequest(5, { expected: 'refused', acks: [], holds: ['two'] }),
    /nobody sent the event at 5/,
  ],
  [
    'a line of the input that is lost',
    withEntries((entries) => entries.splice(EVENTS - 1, 1)),
    /ref-12 of the endless input is not in the log/,
  ],
  [
    'a line of the input that comes twice',
    withEntries((entries) => entries.push(line(13, 12))),
    /ref-12 of the endless input is at 12, 13/,
  ],
  [
    'lines of the input in another order',
    withEntries((entries) => entries.splice(10, 2, line(11, 12), line(12, 11))),
    /ref-12 of the endless input is at 11, before an earlier line at 12/,
  ],
  ['a seq that is skipped', withEntries((entries) => entries.splice(4, 1, line(6, 5))), /place 5 has seq 6/],
  [
    'a moment that decreases',
    withEntries((entries) => entries.push(line(13, 5).replace(/"atMs":\d+/, '"atMs":5'))),
    /seq 13 is older than the one before it/,
  ],
  [
    'two seqs for one ref',
    withRequest(5, { acks: [...request(5).acks, { node: 'two', seqs: [6], atMs: 99 }] }),
    /ref-5 was acknowledged by two at 6, which has another event/,
  ],
  [
    'an acknowledgement of too few drafts',
    withRequest(5, { acks: [{ node: 'two', seqs: [], atMs: 55 }] }),
    /two acknowledged 0 of 1 drafts/,
  ],
  [
    'an order that contradicts the acknowledgements',
    withRequest(5, { firstSentMs: 88 }),
    /ref-5 is at 5, although 8 was acknowledged before it was sent/,
  ],
  [
    'a refusal by a node that lags',
    withRequest(5, { refusals: [refusal] }),
    /ref-5 was refused by two with 409 wrong-state/,
  ],
  [
    'a request that contradicts the log and is accepted',
    withRequest(5, { expected: 'refused' }),
    /ref-5 was accepted by one/,
  ],
  [
    'a gap at a hop',
    withVisits(visit(0, 'one', 1, 6), { ...visit(0, 'two', 8, 12), after: 6 }),
    /subscriber 0 at two missed 7 to 7/,
  ],
  [
    'a repeated event at a hop',
    withVisits(visit(0, 'one', 1, 6), { ...visit(0, 'two', 6, 12), after: 6 }),
    /subscriber 0 at two received 6 again after 6/,
  ],
  [
    'a gap within a stream',
    withVisits({
      ...visit(0, 'one', 1, 6),
      runs: [
        { from: 1, to: 3 },
        { from: 5, to: 6 },
      ],
    }),
    /subscriber 0 at one missed 4 to 4/,
  ],
  [
    'a cursor that a node refuses',
    withVisits(visit(0, 'one', 1, 6), { ...visit(0, 'two', 7, 7), runs: [], refused: 400 }),
    /subscriber 0 at two was refused with 400 after 6/,
  ],
  [
    'another line in the stream of one node',
    { ...sound(), discords: [{ seq: 4, node: 'two', what: 'another line in the stream' }] },
    /two at 4: another line in the stream/,
  ],
  [
    'a line that the log replaced after a stream showed it',
    { ...sound(), firstLines: new Map([[4, line(4, 44)]]) },
    /a stream showed another line of 4/,
  ],
  [
    'two roots of one size',
    { ...sound(), trees: [{ node: 'two', size: 4, root: rootsOf([line(1, 44)])[1] ?? '' }] },
    /two signed another tree of 4 events/,
  ],
  ['a node that stays behind', withState({ head: 11 }), /two is at 11, one at 12/],
  [
    'other bytes at an endpoint',
    withState({
      answers: new Map([
        ['/summary', 'a'],
        ['/events', 'c'],
      ]),
    }),
    /\/events at head 12: two has c, one has b/,
  ],
  [
    'an endpoint that a node lacks',
    withState({ answers: new Map([['/events', 'b']]) }),
    /\/summary at head 12/,
  ],
  ['nodes that nobody compared', { ...sound(), standstills: [] }, /nobody compared the nodes/],
  [
    'an audit that fails',
    { ...sound(), auditFaults: [{ node: 'two', audit: 'verify', output: 'a changed figure' }] },
    /verify of two: a changed figure/,
  ],
  [
    'nodes that agree late',
    { ...sound(), recoveries: [{ faults: ['kill one'], agreeMs: 10_001, publishMs: 0, slowness: 1 }] },
    /the nodes agree 10001 ms after kill one/,
  ],
  [
    'publishing that stays down',
    { ...sound(), recoveries: [{ faults: ['kill one'], agreeMs: 0, publishMs: 30_001, slowness: 1 }] },
    /a publisher is answered 30001 ms after kill one/,
  ],
]

suite('the checker of a recorded history', () => {
  test('finds nothing in a history that keeps all promises', () => {
    assert.deepEqual(violationsOf(sound()), [])
  })

  test('gives a machine that others load as much more time as it is slower', () => {
    const late = (slowness: number): readonly string[] =>
      violationsOf({
        ...sound(),
        recoveries: [{ faults: ['kill one'], agreeMs: 15_000, publishMs: 40_000, slowness }],
      })
    assert.deepEqual(late(1.5), [])
    assert.equal(late(1.3).length, 2)
  })

  for (const [broken, history, report] of DOCTORED) {
    test(`finds ${broken}`, () => {
      assert.match(violationsOf(history).join('\n'), report)
    })
  }
})
