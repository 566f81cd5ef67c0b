import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { framingOf } from './subscription.ts'

suite('a subscription', () => {
  for (const [accept, framing] of [
    [undefined, 'sse'],
    ['*/*', 'sse'],
    ['text/event-stream', 'sse'],
    ['application/json', 'sse'],
    ['application/*', 'sse'],
    ['application/x-ndjson', 'ndjson'],
    ['APPLICATION/X-NDJSON', 'ndjson'],
    ['application/x-ndjson, */*', 'ndjson'],
    ['application/x-ndjson;q=0', 'sse'],
    ['application/x-ndjson;q=0.000', 'sse'],
    ['application/x-ndjson; charset=utf-8; q=0.1', 'ndjson'],
    ['text/event-stream, application/x-ndjson', 'sse'],
    ['text/event-stream;q=0.5, application/x-ndjson;q=0.9', 'ndjson'],
    ['application/x-ndjson;q=x', 'sse'],
    [`${'a/b,'.repeat(40)}application/x-ndjson`, 'sse'],
  ] as const) {
    test(`with ${JSON.stringify(accept)?.slice(0, 60) ?? 'no'} Accept is framed as ${framing}`, () => {
      assert.equal(framingOf(accept), framing)
    })
  }
})
