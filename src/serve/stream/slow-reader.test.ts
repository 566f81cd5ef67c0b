import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient, until } from '../../../test/stage/stream-client.ts'
import { openStage } from '../../../test/stage/stream-stage.ts'
import { STREAM_LIMITS } from './limits.ts'

/** More than the kernel buffers. */
const EVENTS = 40_000
/** Bytes that a slow reader takes in a millisecond. */
const BYTES_A_MS = 1_500

suite('a stream of a slow reader', () => {
  test('does not slow the others, holds one write at most, and continues where it was', async () => {
    await using stage = await openStage({ events: EVENTS, limits: { stallMs: 20_000 } })
    using slow = await openClient(stage.port, { path: '?after=0', paused: true })
    using quick = await openClient(stage.port, { path: '?after=39990' })
    await quick.until(() => quick.seqs().length === 10)
    // The kernel accepts megabytes before the socket buffers anything.
    let sent = -1
    await until(() => {
      const before = sent
      sent = stage.streams.counts().eventsSent
      return sent === before && stage.streams.behind() === 1
    })
    const heldBytes = stage.streams.heldBytes()
    assert.ok(heldBytes > 0 && heldBytes <= 65_536, `${heldBytes} bytes are held`)
    stage.publish(5)
    await quick.until(() => quick.seqs().length === 15)
    assert.equal(stage.streams.behind(), 1)
    const bytes: Buffer[] = []
    slow.socket.on('data', (some: Buffer) => bytes.push(some))
    slow.socket.resume()
    await until(() => stage.streams.behind() === 0, 20_000)
    const tail = (): string => Buffer.concat(bytes.slice(-8)).toString('latin1')
    await until(() => tail().includes('id: 40005\n'), 20_000)
    const ids = [
      ...Buffer.concat(bytes)
        .toString('latin1')
        .matchAll(/\nid: (\d+)\ndata: \{"seq":\1,"type"/g),
    ]
    assert.deepEqual([ids.length, Number(ids.at(-1)?.[1])], [40_005, 40_005])
  })

  test('is closed when the client reads nothing', async () => {
    await using stage = await openStage({ events: EVENTS, limits: { stallMs: 60 } })
    using stalled = await openClient(stage.port, { path: '?after=0', paused: true })
    using healthy = await openClient(stage.port)
    await until(() => stage.streams.counts().closed.slow === 1)
    assert.deepEqual([stage.slotsTaken(), stalled.socket.isPaused()], [1, true])
    stage.publish(1)
    await healthy.until(() => healthy.seqs().length === 1)
  })

  test('is not closed while the client takes a little all the time', async () => {
    await using stage = await openStage({ events: 2 * EVENTS, limits: { stallMs: 2_500 } })
    using slow = await openClient(stage.port, { path: '?after=0', paused: true })
    const started = performance.now()
    // Far less in the time limit than the kernel buffers.
    for (let taken = 0; performance.now() - started < 3_000; await sleep(10)) {
      for (; taken < (performance.now() - started) * BYTES_A_MS; taken += 20_000) slow.socket.read(20_000)
    }
    assert.deepEqual([stage.streams.counts().clients, stage.streams.behind()], [1, 1])
  })

  test('writes 64 KiB at a time at most', () => {
    assert.equal(STREAM_LIMITS.writeBytesMax, 65_536)
  })
})
