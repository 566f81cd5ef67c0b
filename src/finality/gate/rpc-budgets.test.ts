import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openVirtualClock } from '../../../test/stage/virtual-clock.ts'
import { openRpcBudgets } from './rpc-budgets.ts'

const SECOND_MS = 1_000

suite('the budgets of RPC servers', () => {
  test('are of each server, and let requests wait in turn', async () => {
    const clock = openVirtualClock()
    const budgets = openRpcBudgets({
      urls: 2,
      requestsPerMinute: 60,
      monotonicMs: clock.now,
      sleep: clock.sleep,
    })
    const sent: string[] = []
    const spend = async (name: string, requests: number, url: number): Promise<void> => {
      await budgets.spend(requests, url)
      sent.push(`${name} ${clock.now() / SECOND_MS}`)
    }
    await Promise.all([spend('a', 10, 1), spend('large', 10, 1), spend('small', 1, 1), spend('other', 10, 2)])
    assert.deepEqual(sent.toSorted(), ['a 0', 'large 10', 'other 0', 'small 20'])
    assert.equal(budgets.left(), 9, 'what is left is that of the server with least')
  })

  test('count a batch of more than ten seconds before it is sent', async () => {
    const clock = openVirtualClock()
    const budgets = openRpcBudgets({
      urls: 1,
      requestsPerMinute: 60,
      monotonicMs: clock.now,
      sleep: clock.sleep,
    })
    await budgets.spend(35, 1)
    assert.equal(clock.now(), 30 * SECOND_MS)
    assert.equal(budgets.left(), 5)
  })

  test('end a wait when the gate stops, and the next wait too', async () => {
    const clock = openVirtualClock()
    const stop = new AbortController()
    const sleep = (ms: number): Promise<void> => clock.sleep(ms, stop.signal)
    const budgets = openRpcBudgets({ urls: 1, requestsPerMinute: 60, monotonicMs: clock.now, sleep })
    await budgets.spend(10, 1)
    const waits = [budgets.spend(10, 1), budgets.spend(10, 1)]
    stop.abort(new Error('stopped'))
    for (const wait of waits) await assert.rejects(wait, /stopped/)
  })
})
