import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Registry } from 'prom-client'
import { openMetrics, openStateMetrics } from './metrics.ts'

suite('the metrics of a node', () => {
  test('show the state at the time of the scrape', async () => {
    const registry = new Registry()
    openMetrics(registry)
    let seq = 7
    openStateMetrics(registry, {
      version: '0.1.0',
      nodeVersion: '26',
      sqliteVersion: '3.51.3',
      head: () => ({ seq, atMs: 1_790_812_800_000 }),
      limiterKeys: () => 3,
      checks: async () => ({ store: true, serving: false }),
    })
    assert.match(await registry.metrics(), /^daybook_log_head_seq 7$/m)
    seq = 8
    const metrics = await registry.metrics()
    for (const row of [
      'daybook_log_head_seq 8',
      'daybook_log_head_timestamp_seconds 1790812800',
      'daybook_rate_limiter_keys 3',
      'daybook_ready{check="store"} 1',
      'daybook_ready{check="serving"} 0',
      'daybook_build_info{version="0.1.0",node="26",sqlite="3.51.3"} 1',
      'daybook_http_connections 0',
    ]) {
      assert.ok(metrics.includes(`\n${row}\n`), row)
    }
  })
})
