import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  assertRefused,
  PUBLISH_TOKEN,
  type PublishStage,
  openPublishStage,
  receipts,
  trade,
} from '../../../test/stage/publish-stage.ts'
import { HELD_REFS_MAX } from './held-api.ts'
import { WRONG_TOKENS_FREE } from './token-guard.ts'

const REASON = 'Seen as final in the explorer'
const tx = (index: number): string => `transaction-${String(index).padStart(4, '0')}`
const open = (): Promise<PublishStage> => openPublishStage('refuse', true)

/** A draft that waits for the chain and for nothing else. */
const waiting = (index: number, more: object = {}): object =>
  trade(`ref-${index}`, '1.5', { type: 'treasury', kind: 'deposit', tx: tx(index), ...more })

type Listed = Readonly<Record<string, unknown>>
type Page = Readonly<{ drafts: readonly Listed[]; next: number | null }>

async function listed(stage: PublishStage, query = ''): Promise<Page> {
  const answered = await stage.ask('GET', `/held${query}`)
  assert.equal(answered.status, 200, answered.text)
  return JSON.parse(answered.text) as Page
}

const refsIn = ({ drafts }: Page): readonly unknown[] => drafts.map(({ ref }) => ref)

async function decide(
  stage: PublishStage,
  decision: string,
  ...refs: readonly string[]
): Promise<readonly Listed[]> {
  const answered = await stage.ask('POST', `/held/${decision}`, { refs, reason: REASON })
  assert.equal(answered.status, 200, answered.text)
  return (JSON.parse(answered.text) as Page).drafts
}

suite('GET /held', () => {
  test('lists held drafts in order of acceptance, each with what it waits for', async () => {
    await using stage = await open()
    stage.clock(60_000)
    await stage.publish([waiting(1), waiting(2, { kots: '0.1' })])
    const { drafts, next } = await listed(stage)
    assert.equal(next, null)
    assert.deepEqual(drafts[0], {
      id: 1,
      ref: 'ref-1',
      state: 'waiting',
      type: 'treasury',
      kind: 'deposit',
      contestId: null,
      kots: '1.500000000',
      tx: tx(1),
      details: null,
      acceptedAt: '2026-10-01T00:01:00.000Z',
      acceptedAtMs: Date.UTC(2026, 9, 1, 0, 1),
      settledAt: null,
      settledAtMs: null,
      waitsFor: 'chain',
      place: null,
      reason: null,
      lastMessages: null,
    })
    assert.equal(drafts[1]?.['kots'], '0.100000000')
  })

  test('has pages, each of which names the next', async () => {
    await using stage = await open()
    await stage.publish([1, 2, 3, 4, 5].map((index) => waiting(index)))
    const seen: unknown[] = []
    for (let after: number | null = 0; after !== null;) {
      const page: Page = await listed(stage, `?limit=2&after=${after}`)
      assert.ok(page.drafts.length <= 2)
      seen.push(...refsIn(page))
      after = page.next
    }
    assert.deepEqual(seen, ['ref-1', 'ref-2', 'ref-3', 'ref-4', 'ref-5'])
    assert.equal((await listed(stage, '?limit=5')).next, null)
  })

  test('shows the drafts of one state', async () => {
    await using stage = await open()
    await stage.publish([1, 2, 3].map((index) => waiting(index)))
    await stage.publish([trade('ref-4', '100', { type: 'burn', kind: 'platform_income', tx: tx(4) })]) // refused
    await decide(stage, 'drop', 'ref-2')
    await stage
      .queue()
      .held.settle([{ tx: tx(3), is: 'failed', place: 'slot 3', reason: 'the transaction failed' }], 'chain')
    assert.deepEqual(refsIn(await listed(stage)), ['ref-1'])
    assert.deepEqual(refsIn(await listed(stage, '?state=waiting')), ['ref-1'])
    assert.deepEqual(refsIn(await listed(stage, '?state=refused')), [])
    const [dropped] = (await listed(stage, '?state=dropped')).drafts
    assert.deepEqual([dropped?.['ref'], dropped?.['reason'], dropped?.['waitsFor']], ['ref-2', REASON, null])
    const [failed] = (await listed(stage, '?state=failed')).drafts
    assert.deepEqual([failed?.['ref'], failed?.['place']], ['ref-3', 'slot 3'])
  })

  test('shows as refused what is final and the books refuse, and amounts above what a transaction moved', async () => {
    await using stage = await open()
    const burn = (index: number): object =>
      waiting(index, { type: 'burn', kind: 'platform_income', kots: '1.5' })
    await stage.publish([waiting(1, { kots: '2' })])
    await decide(stage, 'vouch', 'ref-1')
    await stage.publish([burn(2), burn(3), waiting(4)])
    await stage.queue().held.settle(
      [
        { tx: tx(2), is: 'final', place: 'slot 2' },
        { tx: tx(3), is: 'final', place: 'slot 3' },
        { tx: tx(4), is: 'excess', reason: 'the transaction moved less' },
      ],
      'chain',
    )
    const { drafts } = await listed(stage, '?state=refused')
    assert.deepEqual(
      drafts.map(({ ref, waitsFor, place }) => [ref, waitsFor, place]),
      [
        ['ref-3', 'books', 'slot 3'],
        ['ref-4', 'chain', null],
      ],
    )
    assert.match(String(drafts[0]?.['reason']), /treasury/)
    assert.equal(drafts[1]?.['reason'], 'the transaction moved less')
    // A deposit lets the burn go.
    await stage.publish([trade('more', '9', { type: 'treasury', kind: 'deposit' })])
    const [released] = await decide(stage, 'release', 'ref-3')
    assert.equal(released?.['status'], 'published')
  })

  test('refuses another parameter, a repeated one and a value out of bounds, and repeats none', async () => {
    await using stage = await open()
    const queries = [
      ['?states=waiting', 'unknown-parameter'],
      ['?limit=1&limit=2', 'repeated-parameter'],
      ['?state=secret-4711', 'invalid-parameter'],
      ['?state=', 'invalid-parameter'],
      ['?limit=0', 'invalid-parameter'],
      ['?limit=1001', 'invalid-parameter'],
      ['?after=-4711', 'invalid-parameter'],
      ['?after=4711x', 'invalid-parameter'],
    ] as const
    for (const [query, code] of queries) {
      const answered = await stage.ask('GET', `/held${query}`)
      assertRefused(answered, 400, code)
      assert.doesNotMatch(answered.text, /4711|states/)
    }
  })
})

suite('a decision', () => {
  test('to vouch publishes the draft in place of the chain', async () => {
    await using stage = await open()
    await stage.publish([waiting(1), waiting(2)])
    assert.equal(stage.head(), 0)
    assert.deepEqual(await decide(stage, 'vouch', 'ref-1'), [{ ref: 'ref-1', status: 'published', seq: 1 }])
    assert.deepEqual(refsIn(await listed(stage)), ['ref-2'])
  })

  test('to release never overrides the chain', async () => {
    await using stage = await open()
    await stage.publish([waiting(1)])
    const [outcome] = await decide(stage, 'release', 'ref-1')
    assert.equal(outcome?.['status'], 'held')
    assert.equal(stage.head(), 0)
  })

  test('to drop gives the draft up for ever', async () => {
    await using stage = await open()
    await stage.publish([waiting(1)])
    assert.deepEqual(await decide(stage, 'drop', 'ref-1'), [
      { ref: 'ref-1', status: 'dropped', reason: REASON },
    ])
    await stage.restart()
    const again = await stage.publish([waiting(1)])
    assert.deepEqual(receipts(again), [['ref-1', 'dropped', undefined]])
    assert.equal((await decide(stage, 'vouch', 'ref-1'))[0]?.['status'], 'dropped')
    assert.equal(stage.head(), 0)
  })

  test('answers each ref by itself, in the order of the request', async () => {
    await using stage = await open()
    await stage.publish([waiting(1), waiting(2)])
    const outcomes = await decide(stage, 'vouch', 'ref-2', 'another', 'ref-1')
    assert.deepEqual(
      outcomes.map(({ ref, status }) => [ref, status]),
      [
        ['ref-2', 'published'],
        ['another', 'unknown'],
        ['ref-1', 'published'],
      ],
    )
  })

  test('changes nothing when it is repeated', async () => {
    await using stage = await open()
    await stage.publish([waiting(1)])
    const first = await decide(stage, 'vouch', 'ref-1')
    assert.deepEqual(await decide(stage, 'vouch', 'ref-1'), first)
    assert.deepEqual(await decide(stage, 'drop', 'ref-1'), first)
    assert.equal(stage.head(), 1)
  })

  test('is refused without one to a thousand refs and a reason, and repeats nothing', async () => {
    await using stage = await open()
    const many = Array.from({ length: HELD_REFS_MAX + 1 }, (_, index) => `r${index}`)
    const bodies: readonly (readonly [unknown, string])[] = [
      [{ refs: ['secret-4711'] }, 'invalid-parameter'],
      [{ reason: 'secret-4711' }, 'invalid-parameter'],
      [{ refs: [], reason: 'secret-4711' }, 'invalid-parameter'],
      [{ refs: many, reason: 'secret-4711' }, 'invalid-parameter'],
      [{ refs: ['secret-4711', 'secret-4711'], reason: 'x' }, 'invalid-parameter'],
      [{ refs: [4711], reason: 'x' }, 'invalid-parameter'],
      [{ refs: ['r'.repeat(129)], reason: 'x' }, 'invalid-parameter'],
      [{ refs: ['a'], reason: '' }, 'invalid-parameter'],
      [{ refs: ['a'], reason: ' \u200b\u3164' }, 'invalid-parameter'],
      [{ refs: ['a'], reason: 'a\u0000b' }, 'invalid-parameter'],
      [{ refs: ['a'], reason: 'x'.repeat(501) }, 'invalid-parameter'],
      [{ refs: ['a'], reason: 'x', 'secret-4711': 1 }, 'unknown-parameter'],
      [['secret-4711'], 'invalid-parameter'],
      ['{"refs":["secret-4711"', 'invalid-parameter'],
      ['{"refs":["a"],"refs":["secret-4711"],"reason":"x"}', 'invalid-parameter'],
      [Buffer.from([0xff, 0xfe]), 'invalid-parameter'],
    ]
    for (const [body, code] of bodies) {
      const answered = await stage.ask('POST', '/held/drop', body)
      assertRefused(answered, 400, code)
      assert.doesNotMatch(answered.text, /4711|rrrr|xxxx/)
    }
    assertRefused(await stage.ask('POST', '/held/drop?refs=a', {}), 400, 'unknown-parameter')
    assertRefused(await stage.ask('POST', '/held/drop', 'x'.repeat(1024 * 1024 + 1)), 413, 'too-large')
  })

  test('is JSON, and nothing else', async () => {
    await using stage = await open()
    for (const type of ['text/plain', 'application/x-ndjson', 'application/x-www-form-urlencoded']) {
      const answered = await stage.ask('POST', '/held/drop', '{}', { 'content-type': type })
      assertRefused(answered, 415, 'unsupported-media-type')
    }
  })
})

suite('every request about held drafts', () => {
  const requests = [
    ['GET', '/held', undefined],
    ['POST', '/held/release', { refs: ['ref-1'], reason: REASON }],
    ['POST', '/held/vouch', { refs: ['ref-1'], reason: REASON }],
    ['POST', '/held/drop', { refs: ['ref-1'], reason: REASON }],
  ] as const

  test('needs the token, and counts wrong ones like /publish', async () => {
    await using stage = await open()
    await stage.publish([waiting(1)])
    const wrong = { authorization: `Bearer ${'x'.repeat(PUBLISH_TOKEN.length)}` }
    for (const [method, target, body] of requests) {
      for (const headers of [wrong, { authorization: undefined }]) {
        const answered = await stage.ask(method, target, body, headers)
        assertRefused(answered, 401, 'unauthorized')
        assert.doesNotMatch(answered.text, /ref-1|transaction/)
      }
    }
    for (let count = 2 * requests.length; count < WRONG_TOKENS_FREE; count++)
      await stage.ask('GET', '/held', undefined, wrong)
    assert.deepEqual(stage.pauses, [])
    await stage.ask('GET', '/held', undefined, wrong)
    assert.equal(stage.pauses.length, 1)
    assert.equal(stage.head(), 0)
    assert.deepEqual(refsIn(await listed(stage)), ['ref-1'])
  })

  test('names its log, and is refused when it is for another', async () => {
    await using stage = await open()
    for (const [method, target, body] of requests) {
      const answered = await stage.ask(method, target, body, { 'daybook-log': '0'.repeat(32) })
      assertRefused(answered, 409, 'another-log')
      assert.match(answered.headers.get('daybook-log') ?? '', /^[0-9a-f]{32}$/)
    }
  })

  test('has one method, which the refusal of any other names', async () => {
    await using stage = await open()
    for (const [method, target] of requests) {
      const other = method === 'GET' ? 'POST' : 'GET'
      const answered = await stage.ask(other, target, other === 'POST' ? {} : undefined)
      assertRefused(answered, 405, 'method-not-allowed')
      assert.equal(answered.headers.get('allow'), method)
    }
    assertRefused(await stage.ask('GET', '/held/all'), 404, 'not-found')
    assertRefused(await stage.ask('GET', '/held/'), 404, 'not-found')
  })

  test('is no publish request in the metrics, unless its token is wrong', async () => {
    await using stage = await open()
    await stage.ask('GET', '/held')
    assert.deepEqual(stage.outcomes, [])
    await stage.ask('GET', '/held', undefined, { authorization: undefined })
    assert.deepEqual(stage.outcomes, ['unauthorized'])
  })
})
