import assert from 'node:assert/strict'
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { hasStore } from '../../src/log/store/store.ts'
import { importFiles } from '../../src/publish/import/import.ts'
import { settingsOf } from '../stage/import-stage.ts'
import { change, runCheck } from '../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { openChangingProxy } from './changing-proxy.ts'
import { assertMirrors, openMirror, openOrigin, vkeyOf } from './mirroring-stage.ts'

type Origin = Awaited<ReturnType<typeof openOrigin>>

/** More than two segments of an archive file in one month. */
const EVENTS = 14_000
const MONTHS = { archiveEventsMin: 1_000 }

function importInto(data: string): Promise<unknown> {
  writeFileSync(`${data}.jsonl`, '')
  return importFiles(settingsOf([`${data}.jsonl`], data))
}

suite('a mirror', () => {
  let origin: Origin
  before(async () => {
    origin = await openOrigin(EVENTS)
  })
  after(() => origin[Symbol.asyncDispose]())

  test('is built from months and pages, and has every row of its origin', async () => {
    await using mirror = openMirror(origin.url, MONTHS)
    assert.deepEqual(await mirror.build(), { is: 'ready', events: EVENTS, resumed: false })
    assertMirrors(mirror.data, origin.data)
    assert.deepEqual(readdirSync(mirror.data).toSorted(), ['daybook.db', 'high-water'])
    const { code, said } = await runCheck(mirror.data, [])
    assert.equal(code, 0, said)
    // A second build finds the mirror, and asks for nothing.
    assert.deepEqual(await mirror.build({ url: 'http://127.0.0.1:1' }), {
      is: 'ready',
      events: EVENTS,
      resumed: false,
    })
  })

  test('follows what is published, also into the next months', async () => {
    await using mirror = openMirror(origin.url, MONTHS)
    await mirror.follow()
    const head = mirror.head()
    await origin.trade(3)
    await mirror.reach(head + 3)
    origin.clock.set(origin.later(80))
    await origin.trade(1)
    await mirror.reach(head + 4)
    const state = await mirror.until(({ waits, behindEvents }) => waits === null && behindEvents === 0)
    assert.deepEqual([state.fault, state.originHead, state.pinnedOnFirstUse], [null, head + 4, true])
    assert.equal(state.held?.counts.held, 0)
    await mirror.stop()
    assertMirrors(mirror.data, origin.data)
  })

  test('goes on after a long absence, from months', async () => {
    await using mirror = openMirror(origin.url, MONTHS)
    await mirror.follow()
    await mirror.stop()
    await origin.trade(1_500)
    origin.clock.set(origin.later(40))
    await origin.trade(500)
    await mirror.follow()
    await mirror.until(({ waits, behindEvents }) => waits === null && behindEvents === 0)
    await mirror.stop()
    assertMirrors(mirror.data, origin.data)
  })

  test('of a mirror has every row of the origin', async () => {
    await using first = openMirror(origin.url, MONTHS)
    await first.build()
    await assert.rejects(openOrigin(first.data), /holds a mirror of http.*: daybook mirror serves it/)
    await assert.rejects(importInto(first.data), /holds a mirror of http.*: daybook mirror serves it/)
    // The service of a mirror has tests of its own. Here a usual one stands in for it.
    change(first.data, (db) => db.exec("DELETE FROM meta WHERE key LIKE 'mirror_%'"))
    await using served = await openOrigin(first.data)
    await using second = openMirror(served.url, MONTHS)
    assert.equal((await second.build()).is, 'ready')
    assertMirrors(second.data, origin.data)
  })

  test('refuses a directory with a log of its own', async () => {
    await using own = await openOrigin(0)
    await using mirror = openMirror(origin.url)
    await own.stop()
    cpSync(own.data, mirror.data, { recursive: true })
    await assert.rejects(mirror.build(), /holds a log of its own: give a mirror an empty directory/)
  })

  test('is not made when its origin cannot be reached', async () => {
    await using mirror = openMirror(() => 'http://127.0.0.1:1')
    await assert.rejects(mirror.build(), /the connection failed/)
    assert.equal(hasStore(mirror.data), false)
  })
})

suite('a mirror of a log', () => {
  test('keeps what it has while its origin is gone, and goes on when it is back', async () => {
    await using origin = await openOrigin(30)
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url)
    await mirror.follow()
    await mirror.until(({ waits }) => waits === null)
    const head = mirror.head()
    proxy.lead(null)
    const away = await mirror.until(({ fault }) => fault !== null)
    assert.deepEqual([away.contradicted, away.waits, away.behindEvents], [null, 'unreachable', 0])
    assert.ok(away.behindMs > 0, 'it may be late since the last proof')
    assert.ok((await mirror.until(({ behindMs }) => behindMs > away.behindMs)).waits === 'unreachable')
    await origin.trade(2)
    await origin.restart()
    proxy.lead(origin.url())
    await mirror.reach(head + 2)
    const back = await mirror.until(({ fault, behindEvents }) => fault === null && behindEvents === 0)
    assert.deepEqual([back.waits, back.behindMs], [null, 0])
  })

  test('remembers over a restart when its origin last proved it and last answered', async () => {
    await using origin = await openOrigin(30)
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url)
    await mirror.build()
    proxy.lead(null)
    await mirror.follow()
    const built = mirror.state()
    assert.ok(built.provedAt !== null && built.lastContactAt !== null, 'a build ends with a proof')
    assert.equal(built.waits, 'starting')
    await mirror.stop()
    proxy.lead(origin.url())
    await mirror.follow()
    const { provedAt, lastContactAt } = await mirror.until(({ waits }) => waits === null)
    assert.ok(provedAt !== null && provedAt > built.provedAt)
    proxy.lead(null)
    await mirror.stop()
    await mirror.follow()
    const again = mirror.state()
    assert.ok(again.provedAt !== null && again.provedAt >= provedAt)
    assert.ok(again.lastContactAt !== null && again.lastContactAt >= (lastContactAt ?? 0))
    assert.equal(again.waits, 'starting')
    assert.ok(again.behindMs > 0)
  })

  test('without events waits for the first', async () => {
    await using origin = await openOrigin(0)
    await using mirror = openMirror(origin.url)
    await mirror.follow()
    assert.equal((await mirror.until(({ waits }) => waits === null)).originHead, 0)
    await origin.trade(1)
    await mirror.reach(1)
    await mirror.stop()
    assertMirrors(mirror.data, origin.data)
    assert.equal((await runCheck(mirror.data, [])).code, 0)
  })

  test('passes on numbers of the origin’s status only, however long its texts are', async () => {
    await using origin = await openOrigin(0)
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url)
    await mirror.follow()
    const counts = { asked: true, refused: 0, failed: 0, dropped: 0, vouched: 0 }
    const text = 'x'.repeat(60_000)
    const statusOf = (held: number, oldestAtMs: number) => (path: string, body: Buffer) =>
      path === 'status'
        ? Buffer.from(
            JSON.stringify({
              ...JSON.parse(body.toString()),
              finality: { ...counts, held, oldestAt: text, oldestAtMs },
            }),
          )
        : body
    const oldestOf = ({ held }: ReturnType<typeof mirror.state>): object => [
      held?.counts.oldestAt,
      held?.counts.oldestAtMs,
    ]
    proxy.change({ body: statusOf(1, 1000) })
    const known = await mirror.until(({ held }) => held?.counts.held === 1)
    assert.deepEqual(oldestOf(known), ['1970-01-01T00:00:01.000Z', 1000])
    proxy.change({ body: statusOf(2, Number.MAX_SAFE_INTEGER) })
    const unknown = await mirror.until(({ held }) => held?.counts.held === 2)
    assert.deepEqual(oldestOf(unknown), [null, null])
  })

  test('takes over new keys that an older one has named', async () => {
    await using origin = await openOrigin(30)
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url)
    await mirror.follow()
    await origin.restart([TEST_KEY, OTHER_KEY])
    proxy.lead(origin.url())
    await origin.trade(1)
    await mirror.reach(31)
    await origin.restart([OTHER_KEY])
    proxy.lead(origin.url())
    await origin.trade(1)
    await mirror.reach(32)
    await mirror.stop()
    assertMirrors(mirror.data, origin.data)
    assert.equal((await runCheck(mirror.data, [])).code, 0)
  })

  test('stops at a new key that no older one has named, and goes on when the operator gives it', async () => {
    await using origin = await openOrigin(30)
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url)
    await mirror.follow()
    await origin.restart([OTHER_KEY], { acceptNewKey: true })
    proxy.lead(origin.url())
    const { contradicted } = await mirror.until((state) => state.contradicted !== null)
    assert.match(contradicted?.reason ?? '', /no trusted key has named/)
    await mirror.stop()
    await mirror.follow({ vkeys: [origin.vkey()] })
    await origin.trade(1)
    await mirror.reach(31)
    assert.equal(mirror.state().pinnedOnFirstUse, false)
  })

  test('stops at a wrong key of its operator, and does not keep it', async () => {
    await using origin = await openOrigin(30)
    await using mirror = openMirror(origin.url)
    await mirror.build()
    await mirror.follow({ vkeys: [vkeyOf(OTHER_KEY)] })
    const { contradicted } = await mirror.until((state) => state.contradicted !== null)
    assert.match(contradicted?.reason ?? '', /the key that you trust is not among the keys/)
    await mirror.stop()
    await mirror.follow()
    const { pinned } = await mirror.until(({ waits }) => waits === null)
    assert.deepEqual(pinned, [vkeyOf(TEST_KEY)])
  })

  test('that was begun again after a loss stops, and goes on with --follow-former', async () => {
    await using origin = await openOrigin(40)
    await using mirror = openMirror(origin.url)
    await origin.stop()
    cpSync(origin.data, `${origin.data}.older`, { recursive: true })
    await origin.restart()
    await mirror.follow()
    await origin.trade(3)
    await mirror.reach(43)
    await origin.stop()
    // The store of an older backup beside the newest mark: the operator accepts the loss.
    cpSync(`${origin.data}.older/daybook.db`, `${origin.data}/daybook.db`)
    for (const suffix of ['-wal', '-shm']) rmSync(`${origin.data}/daybook.db${suffix}`, { force: true })
    await origin.restart(undefined, { acceptLoss: true })
    await origin.publish([{ ref: 'after', type: 'trade', kind: 'sell', kots: '7' }])
    const { contradicted } = await mirror.until((state) => state.contradicted !== null)
    assert.match(contradicted?.reason ?? '', /continues the first 40: --follow-former continues with it/)
    assert.equal(mirror.head(), 43)
    await mirror.stop()
    assert.equal((await mirror.build()).is, 'ready')
    await mirror.follow({ followFormer: true })
    await mirror.until(({ waits }) => waits === null)
    await origin.restart(undefined, {})
    await origin.trade(1)
    await mirror.until(({ originHead, behindEvents }) => originHead === 42 && behindEvents === 0)
    await mirror.stop()
    assertMirrors(mirror.data, origin.data)
    assert.equal((await runCheck(mirror.data, [])).code, 0)
    assert.equal(readdirSync(mirror.data).filter((name) => name.includes('.former-')).length, 1)
  })
})
