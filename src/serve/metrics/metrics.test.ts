import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { AggregatorRegistry, Registry } from 'prom-client'
import { openMetrics, openStateMetrics, openTallies } from './metrics.ts'

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

suite('the tallies of requests', () => {
  const registry = new Registry()
  const tallies = openTallies(registry)
  tallies('/a').add('GET', 200, 0.0005)
  tallies('/a').add('GET', 200, 0.02)
  tallies('/a').add('HEAD', 304, 60)
  tallies('/b').add('GET', 200, null)

  test('are written in the format that Prometheus reads', async () => {
    const text = await registry.metrics()
    for (const line of [
      '# TYPE daybook_http_requests_total counter',
      'daybook_http_requests_total{route="/a",method="GET",code="200"} 2',
      'daybook_http_requests_total{route="/a",method="HEAD",code="304"} 1',
      'daybook_http_requests_total{route="/b",method="GET",code="200"} 1',
      '# TYPE daybook_http_request_duration_seconds histogram',
      'daybook_http_request_duration_seconds_bucket{le="0.001",route="/a"} 1',
      'daybook_http_request_duration_seconds_bucket{le="0.025",route="/a"} 2',
      'daybook_http_request_duration_seconds_bucket{le="30",route="/a"} 2',
      'daybook_http_request_duration_seconds_bucket{le="+Inf",route="/a"} 3',
      'daybook_http_request_duration_seconds_sum{route="/a"} 60.0205',
      'daybook_http_request_duration_seconds_count{route="/a"} 3',
    ]) {
      assert.ok(text.split('\n').includes(line), `${line}\n${text}`)
    }
    assert.doesNotMatch(text, /seconds_\w+\{.*route="\/b"/)
  })

  test('of several threads add up', async () => {
    const json = await registry.getMetricsAsJSON()
    const text = await AggregatorRegistry.aggregate([json, structuredClone(json)]).metrics()
    assert.match(text, /daybook_http_requests_total\{route="\/a",method="GET",code="200"\} 4\n/)
    assert.match(text, /daybook_http_request_duration_seconds_bucket\{le="\+Inf",route="\/a"\} 6\n/)
    assert.match(text, /daybook_http_request_duration_seconds_count\{route="\/a"\} 6\n/)
  })
})
