import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServedMirror } from '../../src/command/mirror/served-mirror.ts'
import type { Service } from '../../src/command/service/service.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { Status } from '../../src/protocol/resources.ts'
import type { SharedClock } from '../../src/publish/door/shared-clock.ts'
import { openSharedClock } from '../../src/publish/door/shared-clock.ts'
import { KEPT_LOG, unpackKept } from '../books/kept-store.ts'
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

suite('the service of a mirror', () => {
  test('goes on without its origin, starts again without it, and follows when it is back', async () => {
    using stage = openStage()
    const data = join(stage.folder, 'mirror')
    let origin = await stage.serve('first')
    const { port } = origin
    const url = `http://127.0.0.1:${port}`
    let mirror = await startMirrorNode(data, url, stage.clock.now)
    const { head } = await untilStatus(mirror, (status) => status.mirror?.state === 'following')
    assert.deepEqual(await readiness(mirror), [200, { ...CHECKS, following: true, origin_agrees: true }, 200])

    await origin[Symbol.asyncDispose]()
    assert.equal((await get(mirror.port, `/api/v1/events/${head.seq}`)).status, 200)
    await mirror[Symbol.asyncDispose]()

    mirror = await startMirrorNode(data, url, stage.clock.now)
    const started = await statusOf(mirror)
    assert.deepEqual([started.head.seq, started.mirror?.state], [head.seq, 'waiting'])
    assert.equal(started.mirror?.reason, 'starting', 'nothing is proved anew since the start')
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
    await mirror[Symbol.asyncDispose]()
    await origin[Symbol.asyncDispose]()
  })

  test('serves what it has proved when its origin contradicts it, says so, and keeps the evidence', async () => {
    using stage = openStage()
    const data = join(stage.folder, 'mirror')
    const first = await stage.serve('first')
    const { port } = first
    await using mirror = await startMirrorNode(data, `http://127.0.0.1:${port}`, stage.clock.now)
    const { head } = await untilStatus(mirror, (status) => status.mirror?.state === 'following')
    await publish(first, 'one')
    await untilStatus(mirror, (status) => status.head.seq === head.seq + 1)
    const line = await (await get(mirror.port, `/api/v1/events/${head.seq + 1}`)).text()
    await first[Symbol.asyncDispose]()

    // The same log and key, with another event in the same place.
    await using second = await stage.serve('second', port)
    await publish(second, 'another')
    await publish(second, 'third')
    const stopped = await untilStatus(mirror, (status) => status.mirror?.state === 'stopped')
    assert.equal(stopped.head.seq, head.seq + 1)
    assert.ok((stopped.mirror?.contradiction ?? '') !== '')
    assert.equal(await (await get(mirror.port, `/api/v1/events/${head.seq + 1}`)).text(), line)
    assert.equal((await get(mirror.port, `/api/v1/events/${head.seq + 1}`)).status, 200)
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

  test('has a private listener without a door', async () => {
    using stage = openStage()
    await using origin = await stage.serve('first')
    const url = `http://127.0.0.1:${origin.port}`
    await using mirror = await startMirrorNode(join(stage.folder, 'mirror'), url, stage.clock.now, {
      workers: 2,
    })
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
    const sent = await fetch(`http://127.0.0.1:${mirror.opsPort}/publish`, { method: 'POST', body: '[]' })
    assert.equal(sent.status, 404)
  })

  test('can be mirrored itself', async () => {
    using stage = openStage()
    await using origin = await stage.serve('first')
    const at = (port: number): string => `http://127.0.0.1:${port}`
    await using near = await startMirrorNode(join(stage.folder, 'near'), at(origin.port), stage.clock.now)
    await untilStatus(near, (status) => status.mirror?.state === 'following')
    await using far = await startMirrorNode(join(stage.folder, 'far'), at(near.port), stage.clock.now)
    const { head } = await untilStatus(far, (status) => status.mirror?.state === 'following')
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
    assert.equal((await get(far.port, '/api/v1/status')).headers.get('daybook-mirror'), at(near.port))
    // Whether a cursor exists is asked through both.
    const ahead = await get(far.port, `/api/v1/events?after=${head.seq + 2}`)
    assert.deepEqual([ahead.status, ((await ahead.json()) as { head: number }).head], [400, head.seq + 1])
  })
})
