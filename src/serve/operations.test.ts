import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Registry } from 'prom-client'
import { openMetrics, openStateMetrics } from './metrics.ts'
import { checksOf, openOperations } from './operations.ts'

suite('the operational endpoints', () => {
  test('say that the process lives, whatever else does not hold', async () => {
    const answer = await openOperations({ store: () => false }, new Registry())('/livez')
    assert.equal(answer?.status, 200)
  })

  test('say ready when every check holds, else which does not', async () => {
    let storeOpen = true
    const ask = openOperations({ store: () => storeOpen, verified: () => true }, new Registry())
    assert.equal((await ask('/readyz'))?.status, 200)
    storeOpen = false
    const unready = await ask('/readyz')
    assert.equal(unready?.status, 503)
    assert.deepEqual(JSON.parse(unready?.body ?? ''), {
      ready: false,
      checks: { store: false, verified: true },
    })
  })

  test('take a check that fails for one that does not hold', () => {
    const failing = (): boolean => {
      throw new Error('no disk')
    }
    assert.deepEqual([...checksOf({ disk: failing })], [['disk', false]])
  })

  test('show the metrics as Prometheus reads them, the state as of the asking', async () => {
    const registry = new Registry()
    openMetrics(registry)
    let seq = 7
    openStateMetrics(registry, {
      version: '0.1.0',
      nodeVersion: '26',
      sqliteVersion: '3.51.3',
      head: () => ({ seq, atMs: 1_790_812_800_000 }),
      limiterKeys: () => 3,
      checks: () => new Map([['store', true]]),
    })
    const ask = openOperations({}, registry)
    assert.match((await ask('/metrics'))?.body ?? '', /^daybook_log_head_seq 7$/m)
    seq = 8
    const answer = await ask('/metrics')
    assert.match(answer?.headers['Content-Type'] ?? '', /^text\/plain/)
    for (const row of [
      'daybook_log_head_seq 8',
      'daybook_log_head_timestamp_seconds 1790812800',
      'daybook_rate_limiter_keys 3',
      'daybook_ready{check="store"} 1',
      'daybook_build_info{version="0.1.0",node="26",sqlite="3.51.3"} 1',
      'daybook_http_connections 0',
    ]) {
      assert.ok(answer?.body.includes(`\n${row}\n`), row)
    }
  })

  test('are these three and no other', async () => {
    assert.equal(await openOperations({}, new Registry())('/metrics/'), undefined)
  })
})
