import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openChangingProxy } from './changing-proxy.ts'
import { assertMirrors, openMirror, openOrigin } from './mirror-stage.ts'

suite('a mirror', () => {
  test('is built from months and pages, and has every row of its origin', async () => {
    await using origin = await openOrigin(20_000)
    await using mirror = openMirror(origin.url)
    const built = await mirror.build({ archiveEventsMin: 5_000 })
    assert.deepEqual(built, { is: 'ready', events: 20_000, resumed: false })
    assertMirrors(mirror.data, origin.data)
  })

  test('follows what is published', async () => {
    await using origin = await openOrigin(300)
    await using mirror = openMirror(origin.url)
    await mirror.follow()
    assert.equal(mirror.head(), 300)
    await origin.trade(3)
    await mirror.reach(303)
    await origin.trade(1)
    await mirror.reach(304)
    const state = await mirror.until(({ provedAt }) => provedAt !== null)
    assert.deepEqual([state.behindEvents, state.fault, state.originHead], [0, null, 304])
    await mirror.stop()
    assertMirrors(mirror.data, origin.data)
  })

  test('keeps what it has while its origin is gone, and goes on when it is back', async () => {
    await using origin = await openOrigin(200)
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url)
    await mirror.follow()
    await mirror.until(({ provedAt }) => provedAt !== null)
    proxy.lead(null)
    const away = await mirror.until(({ fault }) => fault !== null)
    assert.equal(away.contradicted, null)
    await origin.trade(2)
    proxy.lead(origin.url())
    await mirror.reach(202)
    assert.equal((await mirror.until(({ fault }) => fault === null)).behindEvents, 0)
  })
})
