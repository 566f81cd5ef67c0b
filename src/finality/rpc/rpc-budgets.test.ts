import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openVirtualClock } from '../../../test/stage/virtual-clock.ts'
import { openRpcBudgets } from './rpc-budgets.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** Opens budgets whose clock only moves while a request waits. */
function openBudgets(urls: number, requestsPerMinute = 60) {
  const clock = openVirtualClock()
  const { now: monotonicMs, sleep } = clock
  return { clock, budgets: openRpcBudgets({ urls, requestsPerMinute, monotonicMs, sleep }) }
}

suite('the budgets of RPC servers', () => {
  test('are of each server, and let requests wait in turn', async () => {
    const { clock, budgets } = openBudgets(2)
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
    const { clock, budgets } = openBudgets(1)
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

  test('are never exceeded in any minute, and keep nothing waiting that fits', async () => {
    const step = fc.record({ pauseMs: fc.nat(9_000), part: fc.double({ min: 0, max: 1, noNaN: true }) })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(step, { maxLength: 120, size: 'max' }),
        async (requestsPerMinute, steps) => {
          let now = 0
          const sleep = async (ms: number): Promise<void> => void (now += ms)
          const budgets = openRpcBudgets({ urls: 1, requestsPerMinute, monotonicMs: () => now, sleep })
          const sent: number[] = []
          for (const { pauseMs, part } of steps) {
            now += pauseMs
            const count = Math.ceil(part * budgets.burst)
            const [asked, fits] = [now, budgets.left() >= count]
            await budgets.spend(count, 1)
            assert.equal(now === asked, fits, 'it waits only while too few are left')
            sent.push(...Array.from({ length: count }, () => now))
          }
          for (const [index, from] of sent.entries()) {
            const inMinute = sent.slice(index).filter((moment) => moment < from + MINUTE_MS)
            assert.ok(inMinute.length <= requestsPerMinute, `${inMinute.length} requests from ${from}`)
          }
        },
      ),
    )
  })

  test('are used up within the minute by requests that do not wait', async () => {
    const { clock, budgets } = openBudgets(1, 240)
    await budgets.spend(240, 1)
    assert.ok(clock.now() < MINUTE_MS)
    await budgets.spend(1, 1)
    assert.equal(clock.now(), MINUTE_MS)
  })
})
