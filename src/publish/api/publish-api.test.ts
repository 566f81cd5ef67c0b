import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  assertRefused,
  lines,
  NDJSON,
  openPublishStage,
  receipts,
  trade,
} from '../../../test/stage/publish-stage.ts'

const ADDRESS = '0x' + 'ab'.repeat(20)
const burn = (ref: string, kots: string) => ({ ref, type: 'burn', kind: 'platform_income', kots })
const deposit = (ref: string, kots: string) => ({ ref, type: 'treasury', kind: 'deposit', kots })

suite('the private publish API', () => {
  test('publishes JSON and NDJSON, and answers each draft with its ref, status and seq', async () => {
    await using stage = await openPublishStage()
    const array = await stage.publish([trade('a'), trade('b')])
    assert.deepEqual(receipts(array), [
      ['a', 'published', 1],
      ['b', 'published', 2],
    ])
    assert.equal(array.headers.get('content-type'), 'application/json')
    const crlf = `${JSON.stringify(trade('c'))}\r\n\r\n${JSON.stringify(trade('d'))}`
    assert.deepEqual(receipts(await stage.publish(crlf, NDJSON)), [
      ['c', 'published', 3],
      ['d', 'published', 4],
    ])
    const charset = { 'content-type': 'Application/JSON; charset=utf-8' }
    assert.deepEqual(receipts(await stage.publish([], charset)), [])
    assert.equal(
      stage.lines()[0],
      '{"seq":1,"type":"trade","kind":"buy","at":"2026-10-01T00:00:00.000Z","atMs":1790812800000,"contestId":null,"kots":"1.000000000","tx":null}',
    )
  })

  test('shows an event to readers before it answers', async () => {
    await using stage = await openPublishStage()
    for (let seq = 1; seq <= 20; seq += 1) {
      await stage.publish([trade(`r${seq}`)])
      assert.equal(stage.head(), seq)
      assert.equal(stage.lines().length, seq)
    }
  })

  test('names its log in every answer, and refuses a request for another log', async () => {
    await using stage = await openPublishStage()
    const published = await stage.publish([trade('a')])
    const log = published.headers.get('daybook-log') ?? ''
    assert.match(log, /^[0-9a-f]{32}$/)
    const refused = await stage.publish([trade('b')], { 'daybook-log': '0'.repeat(32) })
    assertRefused(refused, 409, 'another-log')
    assert.equal(refused.headers.get('daybook-log'), log)
    assert.equal(stage.head(), 1)
    assert.deepEqual(receipts(await stage.publish([trade('b')], { 'daybook-log': log })), [
      ['b', 'published', 2],
    ])
  })

  test('publishes all drafts of a request or none', async () => {
    await using stage = await openPublishStage()
    const drafts = [deposit('a', '5'), burn('b', '3'), { ref: 'k', type: 'prize', kind: 'new_kind' }]
    assertRefused(await stage.publish(drafts), 400, 'invalid-draft')
    assertRefused(
      await stage.publish([deposit('a', '5'), burn('b', '3'), burn('c', '3')]),
      409,
      'insufficient-balance',
    )
    assert.equal(stage.head(), 0)
    assert.deepEqual(receipts(await stage.publish([deposit('a', '5'), burn('b', '5')])), [
      ['a', 'published', 1],
      ['b', 'published', 2],
    ])
    assert.equal(stage.lines().length, 2)
  })

  test('names the draft, the field and the reason of a refusal', async () => {
    await using stage = await openPublishStage()
    await stage.publish([deposit('a', '5')])
    const overdrawn = await stage.publish([trade('b'), burn('c', '5.1')])
    assertRefused(overdrawn, 409, 'insufficient-balance')
    const message = 'treasury holds 5.000000000, less than 5.100000000'
    assert.deepEqual(overdrawn.json.errors, [
      { draft: 1, ref: 'c', field: 'kots', code: 'insufficient-balance', message },
    ])
    assert.equal(overdrawn.json.detail, `draft 1 (counted from 0), kots: ${message}`)
    const unknown = await stage.publish(`${JSON.stringify(trade('b'))}\n\n{"ref":"c","memo":1}`, NDJSON)
    assertRefused(unknown, 400, 'invalid-draft')
    assert.deepEqual([unknown.json.errors?.[0]?.draft, unknown.json.errors?.[0]?.line], [1, 3])
    assert.match(unknown.json.detail ?? '', /^line 3, draft 1 \(counted from 0\), draft: has an unknown key/)
    const broken = await stage.publish(`${JSON.stringify(trade('b'))}\n{"ref":`, NDJSON)
    assertRefused(broken, 400, 'invalid-draft')
    assert.equal(broken.json.errors?.[0]?.draft, 1)
    assert.equal(stage.head(), 1)
  })

  test('echoes nothing of what it refuses but the ref of a bad draft', async () => {
    await using stage = await openPublishStage()
    const mark = 'QZXJQZXJ'
    const bodies: readonly (readonly [string | object, object?])[] = [
      [[trade('a', mark)]],
      [[trade('a', '1', { [mark]: 1 })]],
      [[{ ref: 'a', type: mark, kind: 'buy' }]],
      [[{ ref: mark.repeat(20), type: 'trade', kind: 'buy' }]],
      [`[{"ref":"a",${mark}]`],
      [`{"ref":"a"}\n${mark}`, NDJSON],
      [mark],
      [[trade('a', '1', { details: { [mark]: mark } })]],
      [[trade('a', '1', { tx: `${mark}\n` })]],
      [[trade('a')], { 'content-type': `text/${mark}` }],
      [[trade('a')], { authorization: `Bearer ${mark}` }],
      [[trade('a')], { 'content-encoding': mark }],
    ]
    for (const [body, headers] of bodies) {
      const { status, text, headers: answered } = await stage.publish(body, { ...headers })
      assert.ok(status >= 400 && status < 500)
      assert.doesNotMatch(text + JSON.stringify([...answered]), /[QZXJ]{4}/i)
    }
  })

  test('refuses a wallet address with 422, and does not repeat it', async () => {
    await using stage = await openPublishStage()
    const answered = await stage.publish([trade('a'), trade('b', '1', { tx: `from:${ADDRESS}` })])
    assertRefused(answered, 422, 'address-forbidden')
    assert.ok(!answered.text.includes(ADDRESS))
    const message = 'holds what looks like a wallet address'
    assert.deepEqual(answered.json.errors, [
      { draft: 1, ref: 'b', field: 'tx', code: 'address-forbidden', message },
    ])
    const inRef = await stage.publish([trade(ADDRESS, 'x')])
    assert.deepEqual([inRef.status, inRef.json.errors?.[0]?.ref], [400, null])
    assert.ok(!inRef.text.includes(ADDRESS))
    assert.equal(stage.head(), 0)
  })

  test('counts how requests end', async () => {
    await using stage = await openPublishStage()
    await stage.publish([trade('a')])
    await stage.publish([trade('a', '2')])
    await stage.publish([{}])
    await stage.publish([trade('b', '1', { tx: ADDRESS })])
    await stage.publish([], { authorization: undefined })
    assert.deepEqual(stage.outcomes, ['stored', 'conflict', 'invalid', 'address', 'unauthorized'])
  })
})

suite('a ref', () => {
  test('is answered as a duplicate with its seq when it is repeated with the same content, however it is written', async () => {
    await using stage = await openPublishStage()
    const plan = { ref: 'c', type: 'contest', kind: 'scheduled', contestId: 1 }
    const details = { opensAt: '2026-11-01', closesAt: '2026-12-01' }
    await stage.publish([trade('a', '1.5'), { ...plan, details }])
    const again = [
      { kots: '1.500000000', kind: 'buy', type: 'trade', ref: 'a', tx: null, details: {} },
      { ...plan, details: { closesAt: Date.UTC(2026, 11, 1), opensAt: '2026-11-01T00:00:00.000Z' } },
      trade('b'),
    ]
    assert.deepEqual(receipts(await stage.publish(again)), [
      ['a', 'duplicate', 1],
      ['c', 'duplicate', 2],
      ['b', 'published', 3],
    ])
    assert.deepEqual(receipts(await stage.publish(lines(again), NDJSON)), [
      ['a', 'duplicate', 1],
      ['c', 'duplicate', 2],
      ['b', 'duplicate', 3],
    ])
    assert.equal(stage.head(), 3)
  })

  test('gets 409 when it is repeated with other content, and nothing of its request is published', async () => {
    await using stage = await openPublishStage()
    await stage.publish([trade('a')])
    for (const other of [trade('a', '2'), trade('a', '1', { tx: 'tx:other:1' }), deposit('a', '1')]) {
      const answered = await stage.publish([trade('b'), other])
      assertRefused(answered, 409, 'ref-conflict')
      assert.deepEqual(answered.json.errors, [
        { draft: 1, ref: 'a', field: 'ref', code: 'ref-conflict', message: 'was used for other content' },
      ])
    }
    assert.equal(stage.head(), 1)
  })

  test('is known within its own request', async () => {
    await using stage = await openPublishStage()
    assert.deepEqual(receipts(await stage.publish([trade('a'), trade('a', '1.0')])), [
      ['a', 'published', 1],
      ['a', 'duplicate', 1],
    ])
    assertRefused(await stage.publish([trade('b'), trade('b', '2')]), 409, 'ref-conflict')
    assert.equal(stage.head(), 1)
  })

  test('is free again after its request was refused', async () => {
    await using stage = await openPublishStage()
    assertRefused(await stage.publish([trade('a'), burn('b', '1')]), 409, 'insufficient-balance')
    assert.deepEqual(receipts(await stage.publish([trade('a', '2')])), [['a', 'published', 1]])
  })

  test('is known forever, across restarts and later changes of the books', async () => {
    await using stage = await openPublishStage()
    await stage.publish([deposit('a', '5'), burn('b', '5')])
    for (let restarts = 0; restarts < 3; restarts += 1) {
      await stage.restart()
      assert.deepEqual(receipts(await stage.publish([burn('b', '5'), deposit('a', '5')])), [
        ['b', 'duplicate', 2],
        ['a', 'duplicate', 1],
      ])
      assertRefused(await stage.publish([burn('b', '4')]), 409, 'ref-conflict')
    }
    assert.deepEqual(receipts(await stage.publish([trade('c')])), [['c', 'published', 3]])
  })

  test('is compared exactly: no case folding, no trimming, no normalisation', async () => {
    await using stage = await openPublishStage()
    const refs = ['a', 'A', ' a', 'a ', 'é', 'e\u0301', "a'--", '__proto__', 'x'.repeat(128)]
    const answered = await stage.publish(refs.map((ref) => trade(ref)))
    assert.deepEqual(
      receipts(answered),
      refs.map((ref, index) => [ref, 'published', index + 1] as const),
    )
  })
})

suite('the clock', () => {
  test('may step back: `at` never decreases as seq grows', async () => {
    await using stage = await openPublishStage()
    const steps = [0, 5_000, 4_999, -40 * 86_400_000, 5_001, 5_000]
    for (const [index, ms] of steps.entries()) {
      stage.clock(ms)
      await stage.publish([trade(`r${index}`)])
      if (index === 3) await stage.restart()
    }
    const begin = Date.UTC(2026, 9, 1)
    assert.deepEqual(
      stage.lines().map((line) => (JSON.parse(line) as { atMs: number }).atMs - begin),
      [0, 5_000, 5_000, 5_000, 5_001, 5_001],
    )
  })
})

suite('with --balances report', () => {
  test('drafts that overdraw or are out of order are published and counted, impossible ones are refused', async () => {
    await using stage = await openPublishStage('report')
    const play = { ref: 'b', type: 'play', kind: 'entry', contestId: 7, kots: '1' }
    assert.equal((await stage.publish([burn('a', '5'), play])).status, 200)
    assert.deepEqual(
      stage.irregular.map(({ code }) => code),
      ['insufficient-balance', 'wrong-state'],
    )
    const correction = { ref: 'c', type: 'correction', kind: 'burn', kots: '-4', details: { corrects: 1 } }
    assertRefused(await stage.publish([burn('d', '1'), correction]), 409, 'wrong-state')
    assert.equal(stage.irregular.length, 2, 'what was refused is not counted')
    assert.equal(stage.head(), 2)
  })
})
