import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServedMirror } from '../../src/mirror/command/served-mirror.ts'
import type { Service } from '../../src/command/service/service.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { Status } from '../../src/protocol/endpoints/description-endpoints.ts'
import { openSharedClock, type SharedClock } from '../../src/publish/writer/shared-clock.ts'
import { KEPT_LOG, unpackKept } from '../books/kept-store.ts'
import { run } from '../stage/command-stage.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { startMirrorNode } from './mirror-stage.ts'

const NOW = Date.UTC(2026, 3, 20, 12, 0, 30, 500)
const WAIT_MS_MAX = 30_000

/** A kept log, another copy of it that can grow differently, and a folder for mirrors. */
type Stage = Disposable &
  Readonly<{
    clock: SharedClock
    folder: string
    serve(copy: 'first' | 'second', port?: number): Promise<Service>
  }>

function openStage(): Stage {
  const kept = unpackKept(SCHEMA_VERSION)
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-'))
  const second = join(folder, 'second')
  cpSync(kept.data, second, { recursive: true })
  const clock = openSharedClock()
  clock.set(msOf(NOW))
  return {
    clock,
    folder,
    serve: (copy, port = 0) =>
      startLocalNode(copy === 'first' ? kept.data : second, KEPT_LOG, kept.keys, clock, {
        settings: { port },
      }),
    [Symbol.dispose]() {
      kept[Symbol.dispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

const get = (port: number, path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`)

async function statusOf({ port }: ServedMirror): Promise<Status> {
  return (await (await get(port, '/api/v1/status')).json()) as Status
}

/** Waits until the status of a mirror is as wanted. */
async function untilStatus(mirror: ServedMirror, isWanted: (status: Status) => boolean): Promise<Status> {
  const lateMs = performance.now() + WAIT_MS_MAX
  for (;;) {
    const status = await statusOf(mirror)
    if (isWanted(status)) return status
    assert.ok(performance.now() < lateMs, `the status is still ${JSON.stringify(status.mirror)}`)
    await sleep(20)
  }
}

async function publish(service: Service, ref: string): Promise<void> {
  const published = await postDrafts(service, [{ ref, type: 'trade', kind: 'buy', kots: `1.${ref.length}` }])
  assert.equal(published.status, 200, await published.text())
}

async function readiness(
  mirror: ServedMirror,
): Promise<readonly [status: number, checks: unknown, follows: number]> {
  const answer = await get(mirror.opsPort, '/readyz')
  const { checks } = (await answer.json()) as { checks: unknown }
  const follows = await get(mirror.opsPort, '/readyz?for=following')
  await follows.text()
  return [answer.status, checks, follows.status]
}

const CHECKS = { store: true, serving: true, accepting_publishes: false }

// One origin and one mirror serve all tests, in this order: the last one ends them.
suite('the service of a mirror', () => {
  const stage = openStage()
  const at = (port: number): string => `http://127.0.0.1:${port}`
  const data = join(stage.folder, 'mirror')
  let origin: Service
  let mirror: ServedMirror
  before(async () => {
    origin = await stage.serve('first')
    mirror = await startMirrorNode(data, at(origin.port), stage.clock.now)
  })
  after(async () => {
    await mirror[Symbol.asyncDispose]()
    await origin[Symbol.asyncDispose]()
    stage[Symbol.dispose]()
  })
  const follows = (): Promise<Status> => untilStatus(mirror, (status) => status.mirror?.state === 'following')

  test('has a private listener without a publish API', async () => {
    for (const [path, status] of [
      ['/livez', 200],
      ['/readyz', 200],
      ['/readyz?for=publish', 503],
      ['/readyz?for=nothing', 400],
      ['/metrics', 200],
      ['/publish', 404],
      ['/held', 404],
    ] as const) {
      const answer = await get(mirror.opsPort, path)
      assert.equal(answer.status, status, path)
      await answer.text()
    }
    const sent = await fetch(`${at(mirror.opsPort)}/publish`, { method: 'POST', body: '[]' })
    assert.equal(sent.status, 404)
  })

  test('passes `daybook verify`', async () => {
    await follows()
    const { code, stdout, stderr } = await run(['verify', at(mirror.port)], { now: stage.clock.now })
    assert.equal(code, 0, stdout + stderr)
  })

  test('opens a stream ahead of its head, and goes on with it', async () => {
    const quiet = await follows()
    // The mirror asks for a checkpoint at most every 2 s, so the second event is missing for a while.
    await publish(origin, 'first')
    const { head } = await untilStatus(mirror, (status) => status.head.seq > quiet.head.seq)
    await publish(origin, 'ahead')
    const answer = await get(mirror.port, `/api/v1/stream?after=${head.seq + 1}`)
    await publish(origin, 'next')
    let text = ''
    // The answer is named until its body is read: `fetch` cancels the body of an answer that is garbage.
    for await (const bytes of answer.body ?? []) {
      text += Buffer.from(bytes).toString()
      if (text.includes(`data: {"seq":${head.seq + 2},`)) break
    }
    assert.equal(answer.status, 200)
    assert.match(text, new RegExp(`"seq":${head.seq + 1},"head":${head.seq},"live":false`))
    assert.doesNotMatch(text, new RegExp(`data: {"seq":${head.seq + 1},"type"`))
  })

  test('can be mirrored itself', async () => {
    const { head } = await follows()
    await using far = await startMirrorNode(join(stage.folder, 'far'), at(mirror.port), stage.clock.now)
    await untilStatus(far, (status) => status.mirror?.state === 'following')
    await publish(origin, 'far')
    const reached = await untilStatus(far, (status) => status.head.seq === head.seq + 1)
    assert.deepEqual(
      reached.mirror?.upstream.map(({ of, state }) => [of, state]),
      [[at(origin.port), 'following']],
    )
    const [one, other] = await Promise.all(
      [origin, far].map(async ({ port }) => (await get(port, '/api/v1/log/checkpoint')).text()),
    )
    assert.equal(other, one)
    assert.equal((await get(far.port, '/api/v1/status')).headers.get('daybook-mirror'), at(mirror.port))
    // Whether a cursor exists is asked through both.
    const ahead = await get(far.port, `/api/v1/events?after=${head.seq + 2}`)
    assert.deepEqual([ahead.status, ((await ahead.json()) as { head: number }).head], [400, head.seq + 1])
  })

  test('goes on without its origin, starts again without it, and follows when it is back', async () => {
    const { head } = await follows()
    assert.deepEqual(await readiness(mirror), [200, { ...CHECKS, following: true, origin_agrees: true }, 200])

    const { port } = origin
    await origin[Symbol.asyncDispose]()
    assert.equal((await get(mirror.port, `/api/v1/events/${head.seq}`)).status, 200)
    await mirror[Symbol.asyncDispose]()

    mirror = await startMirrorNode(data, at(port), stage.clock.now)
    const started = await statusOf(mirror)
    assert.deepEqual([started.head.seq, started.mirror?.state], [head.seq, 'waiting'])
    assert.ok(['starting', 'unreachable'].includes(started.mirror?.reason ?? ''), 'nothing is proved anew')
    assert.ok((started.mirror?.behindMs ?? 0) > 0)
    assert.ok((started.mirror?.provedAtMs ?? 0) > 0 && (started.mirror?.contactAtMs ?? 0) > 0)
    assert.equal((await get(mirror.port, `/api/v1/events/${head.seq}`)).status, 200)
    assert.deepEqual(await readiness(mirror), [
      200,
      { ...CHECKS, following: false, origin_agrees: true },
      503,
    ])

    origin = await stage.serve('first', port)
    await publish(origin, 'back')
    const back = await untilStatus(mirror, (status) => status.head.seq > head.seq)
    assert.equal(back.mirror?.contradiction, null)
  })

  test('serves what it has proved when its origin contradicts it, says so, and keeps the evidence', async () => {
    const { head } = await follows()
    const line = await (await get(mirror.port, `/api/v1/events/${head.seq}`)).text()
    const { port } = origin
    await origin[Symbol.asyncDispose]()

    // The same log and key, with other events in the same places.
    origin = await stage.serve('second', port)
    for (let events = 0; events <= PUBLISHED_MAX; events += 1) await publish(origin, `other-${events}`)
    const stopped = await untilStatus(mirror, (status) => status.mirror?.state === 'stopped')
    assert.equal(stopped.head.seq, head.seq)
    assert.ok((stopped.mirror?.contradiction ?? '') !== '')
    assert.equal(await (await get(mirror.port, `/api/v1/events/${head.seq}`)).text(), line)
    assert.match(await (await get(mirror.port, '/status')).text(), /<h1[^>]*>Stopped<\/h1>/)
    assert.deepEqual(await readiness(mirror), [
      200,
      { ...CHECKS, following: false, origin_agrees: false },
      503,
    ])
    const [found = ''] = readdirSync(join(data, 'evidence'))
    assert.ok(existsSync(join(data, 'evidence', found, 'reason.txt')))
    assert.match(await (await get(mirror.opsPort, '/metrics')).text(), /\ndaybook_mirror_contradicted 1\n/)
  })
})

/** More events than the tests before have published. */
const PUBLISHED_MAX = 5
