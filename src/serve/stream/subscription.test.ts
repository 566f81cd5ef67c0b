import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import { parseQuery } from '../query/query.ts'
import { framingOf, parseSubscription, type Subscription } from './subscription.ts'

function subscriptionOf(rawQuery: string, lastEventId?: string): Subscription {
  const query = parseQuery(rawQuery, endpointOf('stream').parameters)
  assert.ok(query.ok)
  const header = (name: string): string | undefined => (name === 'last-event-id' ? lastEventId : undefined)
  const made = parseSubscription({ query: query.value, header })
  assert.ok(made.ok)
  return made.value
}

suite('a subscription', () => {
  const FROM = 1_790_856_000_000
  for (const [query, header, after, from, cursorName] of [
    ['', undefined, undefined, undefined, 'after'],
    ['after=1', undefined, 1, undefined, 'after'],
    [`after=1&from=${FROM}`, undefined, 1, FROM, 'after'],
    ['lastEventId=0&after=1', undefined, 0, undefined, 'lastEventId'],
    [`from=${FROM}&lastEventId=7`, undefined, 7, undefined, 'lastEventId'],
    [`after=1&lastEventId=7&from=${FROM}`, '9', 9, undefined, 'Last-Event-ID'],
    ['lastEventId=7', '3', 3, undefined, 'Last-Event-ID'],
  ] as const) {
    test(`to ?${query}${header === undefined ? '' : ` with Last-Event-ID ${header}`} starts by ${cursorName}`, () => {
      const found = subscriptionOf(query, header)
      assert.deepEqual([found.after, found.from, found.cursorName], [after, from, cursorName])
    })
  }

  for (const [accept, framing] of [
    [undefined, 'sse'],
    ['*/*', 'sse'],
    ['text/event-stream', 'sse'],
    ['application/json', 'sse'],
    ['application/*', 'ndjson'],
    ['text/*', 'sse'],
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
