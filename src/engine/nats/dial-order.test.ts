import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Server } from '@nats-io/transport-node'
import { openDialOrder } from './dial-order.ts'

function brokerOf(listen: string): Server {
  const address = { hostname: '127.0.0.1', port: 4222, listen, src: listen, tlsName: '' }
  return { ...address, reconnects: 0, lastConnect: 0, gossiped: false, didConnect: false }
}

suite('the order of dials', () => {
  test('takes the broker that was dialled longest ago, each once in a quarter of a second at most', () => {
    const brokers = ['a', 'b', 'c'].map(brokerOf)
    let nowMs = 0
    const next = openDialOrder(() => nowMs)
    for (const [atMs, listen, delay] of [
      [0, 'a', 0],
      [10, 'b', 0],
      [20, 'c', 0],
      [20, 'a', 230],
      [250, 'b', 10],
      [260, 'c', 10],
      [9_000, 'a', 0],
      [9_000, 'b', 0],
    ] as const) {
      nowMs = atMs
      const dial = next(brokers)
      assert.deepEqual([dial?.server.listen, dial?.delay], [listen, delay], `at ${atMs} ms`)
    }
    assert.equal(next([]), null)
  })

  test('leaves out a broker that is no longer named', () => {
    const [a, b] = [brokerOf('a'), brokerOf('b')]
    const next = openDialOrder(() => 0)
    next([a, b])
    assert.equal(next([a])?.server, a)
  })
})
