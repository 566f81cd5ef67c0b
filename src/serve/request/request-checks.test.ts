import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH } from '../../../test/story/api-story.ts'
import { openClient, until } from '../../../test/stage/stream-client.ts'
import { DAY_MS, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import { formatTilePath } from '../../tlog/tile.ts'

/** Events of the stage's log. */
const HEAD = 13
/** Requests for an event that the log does not have yet, which one more event answers. */
const NEXT = HEAD + 1
const ASKED = [
  `/api/v1/events?after=${NEXT}`,
  `/api/v1/events?after=${NEXT}&format=csv`,
  `/api/v1/events?%61fter=${NEXT}`,
  `/api/v1/events?after=%31${String(NEXT).slice(1)}`,
  `/api/v1/events/${NEXT}`,
  `/api/v1/events/${NEXT}/details`,
  `/api/v1/events/${NEXT}/corrections`,
  `/api/v1/log/proof/${NEXT}`,
  `/api/v1/log/${formatTilePath({ level: 0, index: 0, width: NEXT })}`,
  `/api/v1/log/tile/entries/000.p/${NEXT}`,
  `/events?after=${NEXT}`,
  `/events/${NEXT}`,
  `/events/${NEXT}.csv`,
]

type Barrier = () => Promise<Seq | null>
const never: Barrier = () => new Promise(() => undefined)
const unknown: Barrier = () => Promise.resolve(null)
const headOf =
  (seq: number): Barrier =>
  () =>
    Promise.resolve(seqOf(seq))

/** Publishes an event, as another node does before this one has it. */
function publish(stage: ApiStage): void {
  stage.trade(1)
  stage.reader.snapshot(() => undefined)
}

async function codeOf(answer: Response): Promise<unknown> {
  const { code } = (await answer.json()) as { code: string }
  return [answer.status, code]
}

suite('a node that follows a log', () => {
  test('answers a request for an event that it does not have yet as soon as it has it', async () => {
    for (const path of ASKED) {
      await using stage = await openApiStage({ following: { barrier: headOf(NEXT) } })
      const asked = stage.get(path)
      await until(() => stage.following?.waits.waiting() === 1)
      publish(stage)
      const answer = await asked
      assert.equal(answer.status, 200, path)
      await answer.body?.cancel()
      assert.equal(stage.following?.waits.waiting(), 0)
    }
  })

  test('refuses what the whole log does not have, as a node that is alone does', async () => {
    await using stage = await openApiStage({ following: { barrier: headOf(HEAD), waitMsMax: 9_000 } })
    await using alone = await openApiStage()
    for (const path of ASKED) {
      const [answer, expected] = await Promise.all([stage.get(path), alone.get(path)])
      assert.equal(answer.status, expected.status, path)
      assert.ok(expected.status === 400 || expected.status === 404, path)
      await Promise.all([answer.text(), expected.text()])
    }
  })

  test('names the head of the whole log when a cursor is ahead of that', async () => {
    await using stage = await openApiStage({ following: { barrier: headOf(HEAD + 4) }, streams: true })
    for (const path of ['/api/v1/events', '/api/v1/stream']) {
      const answer = await stage.get(`${path}?after=${HEAD + 5}`)
      const { code, head } = (await answer.json()) as { code: string; head: number }
      assert.deepEqual([code, head], ['cursor-ahead', HEAD + 4])
    }
  })

  test('answers 503 `behind` when it does not reach the event in time, with its head and Retry-After', async () => {
    for (const barrier of [headOf(NEXT), unknown, never]) {
      await using stage = await openApiStage({ following: { barrier, waitMsMax: 30 } })
      const answers = await Promise.all(ASKED.slice(0, 3).map((path) => stage.get(path)))
      for (const answer of answers) {
        assert.equal(answer.headers.get('retry-after'), '2')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        const { code, head } = (await answer.json()) as { code: string; head: number }
        assert.deepEqual([answer.status, code, head], [503, 'behind', HEAD])
      }
    }
  })

  test('counts its answers 503 `behind` apart, and none whose caller has left', async () => {
    await using stage = await openApiStage({ following: { barrier: never, waitMsMax: 30 } })
    const counted = async (): Promise<string> =>
      /^daybook_http_behind_total (\d+)$/m.exec(await stage.metrics.metrics())?.[1] ?? ''
    assert.deepEqual(await codeOf(await stage.get(`/api/v1/events/${NEXT}`)), [503, 'behind'])
    assert.equal((await stage.get(`/events/${NEXT}`, {}, 'HEAD')).status, 503)
    await until(async () => (await counted()) === '2')
    const leaving = new AbortController()
    const left = fetch(`http://127.0.0.1:${stage.port}/api/v1/events/${NEXT}`, { signal: leaving.signal })
    await until(() => stage.following?.waits.waiting() === 1)
    leaving.abort()
    await assert.rejects(left)
    await until(async () => (await stage.metrics.metrics()).includes('code="499"} 1'))
    assert.equal(await counted(), '2')
  })

  test('shows `behind` on a page as a page', async () => {
    await using stage = await openApiStage({ following: { barrier: unknown, waitMsMax: 30 } })
    const answer = await stage.get(`/events/${NEXT}`)
    assert.equal(answer.status, 503)
    assert.match(await answer.text(), /This node may be behind the log/)
  })

  test('does not wait for what it has, for bad cursors and for other questions', async () => {
    await using stage = await openApiStage({ following: { barrier: never } })
    for (const [path, status] of [
      [`/api/v1/events?after=${HEAD}`, 200],
      [`/api/v1/events/${HEAD}`, 200],
      ['/api/v1/events?after=x', 400],
      ['/api/v1/events/0', 404],
      ['/api/v1/log/tile/0/x', 404],
      ['/contests', 200],
    ] as const) {
      const answer = await stage.get(path)
      assert.equal(answer.status, status, path)
      await answer.text()
    }
  })

  test('lets few requests of one caller wait', async () => {
    await using stage = await openApiStage({ following: { barrier: never } })
    const waiting = [1, 2, 3].map(() => stage.get(`/api/v1/events/${NEXT}`))
    await until(() => stage.following?.waits.waiting() === 3)
    assert.deepEqual(await codeOf(await stage.get(`/api/v1/events/${NEXT}`)), [503, 'behind'])
    publish(stage)
    for (const answer of await Promise.all(waiting)) {
      assert.equal(answer.status, 200)
      await answer.text()
    }
  })

  test('lets few requests of all callers wait', async () => {
    let caller = 0
    await using stage = await openApiStage({
      following: { barrier: never },
      callerOf: () => String((caller += 1)),
    })
    const waiting = [1, 2, 3, 4, 5].map(() => stage.get(`/api/v1/events/${NEXT}`))
    await until(() => stage.following?.waits.waiting() === 5)
    assert.deepEqual(await codeOf(await stage.get(`/api/v1/events/${NEXT}`)), [503, 'behind'])
    publish(stage)
    for (const answer of await Promise.all(waiting)) await answer.text()
  })

  test('forgets a caller that leaves, and answers all at a stop', async () => {
    await using stage = await openApiStage({ following: { barrier: never } })
    const leaving = new AbortController()
    const left = fetch(`http://127.0.0.1:${stage.port}/api/v1/events/${NEXT}`, { signal: leaving.signal })
    await until(() => stage.following?.waits.waiting() === 1)
    leaving.abort()
    await assert.rejects(left)
    await until(() => stage.following?.waits.waiting() === 0)
    const asked = stage.get(`/api/v1/events/${NEXT}`)
    await until(() => stage.following?.waits.waiting() === 1)
    stage.following?.waits.end()
    assert.deepEqual(await codeOf(await asked), [503, 'behind'])
  })

  test('accepts a moment up to 5 s after its clock', async () => {
    const now = LAUNCH + 9 * DAY_MS - SECOND_MS
    for (const [path, aheadMs, status] of [
      ['/api/v1/events?from=', 5_000, 200],
      ['/api/v1/events?from=', 5_001, 400],
      ['/api/v1/events?format=csv&from=', 5_000, 200],
      ['/api/v1/summary?at=', 5_000, 200],
      ['/api/v1/summary?at=', 5_001, 400],
      ['/api/v1/flows?bucket=day&to=', DAY_MS + SECOND_MS, 200],
      ['/api/v1/flows?bucket=day&to=', DAY_MS + SECOND_MS + 1, 400],
      ['/api/v1/flows?bucket=day&from=', SECOND_MS, 200],
      ['/api/v1/stream?from=', 5_000, 200],
      ['/api/v1/stream?from=', 5_001, 400],
    ] as const) {
      await using stage = await openApiStage({ following: { barrier: never }, streams: true })
      stage.setNow(msOf(now))
      const answer = await stage.get(`${path}${now + aheadMs}`, {}, 'HEAD')
      assert.equal(answer.status, status, `${path}${aheadMs}`)
    }
  })
})

suite('a stream whose cursor is ahead of a node that follows a log', () => {
  test('waits for the head with positions, is live there, and goes on', async () => {
    await using stage = await openApiStage({
      following: { barrier: headOf(HEAD + 2) },
      streams: true,
      streamLimits: { heartbeatMs: 30, tickMs: 10 },
    })
    using client = await openClient(stage.port, { path: `?after=${HEAD + 2}` })
    await client.until(() => client.positions().length >= 3)
    assert.match(client.head(), /^HTTP\/1\.1 200 OK\r\n/)
    for (const { seq, head, live } of client.positions())
      assert.deepEqual([seq, head, live], [HEAD + 2, HEAD, false])
    publish(stage)
    publish(stage)
    await client.until(() => client.positions().some(({ live }) => live))
    assert.deepEqual(client.seqs(), [])
    publish(stage)
    await client.until(() => client.seqs().length === 1)
    assert.deepEqual(client.seqs(), [HEAD + 3])
  })

  test('is not refused when nobody can tell whether the cursor exists', async () => {
    for (const barrier of [unknown, never]) {
      await using stage = await openApiStage({
        following: { barrier },
        streams: true,
        streamLimits: { verdictMs: 20 },
      })
      using client = await openClient(stage.port, { headers: [`Last-Event-ID: ${HEAD + 3}`] })
      await client.until(() => client.positions().length === 1)
      for (const _ of [1, 2, 3, 4]) publish(stage)
      await client.until(() => client.seqs().length === 1)
      assert.deepEqual(client.seqs(), [HEAD + 4])
    }
  })

  test('ends after a minute, so that its client asks another node', async () => {
    await using stage = await openApiStage({
      following: { barrier: headOf(HEAD + 2) },
      streams: true,
      streamLimits: { aheadMs: 40, tickMs: 10 },
    })
    using client = await openClient(stage.port, { path: `?after=${HEAD + 2}` })
    await client.until(() => client.isWhole())
    assert.equal(client.positions().at(-1)?.seq, HEAD + 2)
    assert.deepEqual(client.seqs(), [])
  })

  test('is refused only when the whole log ends before the cursor', async () => {
    await using stage = await openApiStage({ following: { barrier: headOf(HEAD) }, streams: true })
    assert.deepEqual(await codeOf(await stage.get(`/api/v1/stream?after=${NEXT}`)), [400, 'cursor-ahead'])
    assert.deepEqual(await codeOf(await stage.get('/live', { 'Last-Event-ID': String(NEXT) })), [
      400,
      'cursor-ahead',
    ])
  })
})
