import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RpcFailure, type RpcFault } from './rpc-failure.ts'
import { repliesOf } from './rpc-reply.ts'

const reply = (id: unknown, result: unknown = 'ok') => ({ jsonrpc: '2.0', id, result })
const refusal = (code: number, message: string, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

type Read = Readonly<{ result: unknown } | { fault: RpcFault }>

/** Replies to calls with the ids from 7 on, or the fault of them all. */
function read(body: unknown, calls: number, status = 200): readonly Read[] | RpcFault {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  try {
    const replies = repliesOf({ status, headers: new Headers(), text }, { firstId: 7, calls, secrets: [] })
    return replies.map((one) => ('failure' in one ? { fault: one.failure.fault } : one))
  } catch (error) {
    assert.ok(error instanceof RpcFailure)
    return error.fault
  }
}

/** Answers to a batch of three that a provider does not take, by their kinds of server. */
const REFUSALS: readonly (readonly [server: string, body: unknown, status?: number])[] = [
  ['geth', [refusal(-32_600, 'batch too large', 7)]],
  [
    'geth, for a long answer',
    [reply(7), refusal(-32_003, 'response too large', 8), refusal(-32_003, 'response too large', 9)],
  ],
  ['Erigon', refusal(-32_000, 'batch limit 2 exceeded: 3 requests given')],
  ['Besu', refusal(-32_005, 'Number of requests in batch exceeds the maximum')],
  ['Nethermind', refusal(-32_600, 'Batch size limit exceeded')],
  ['jsonrpsee', refusal(-32_010, 'The batch request was too large')],
  ['jsonrpsee without batches', refusal(-32_005, 'Batched requests are not supported by this server')],
  ['a provider with status 500', refusal(31, 'Batch of more than 2 requests are not allowed'), 500],
  ['a provider with status 400 and no JSON', 'bad request', 400],
  ['a proxy with status 413', '<html>', 413],
]

suite('a batch that a server refuses', () => {
  for (const [server, body, status] of REFUSALS) {
    test(`is refused in the form of ${server}`, () => assert.equal(read(body, 3, status), 'refused'))
  }

  test('of signatures is refused in the form of Agave and of other providers', () => {
    assert.deepEqual(read(refusal(-32_602, 'Too many inputs provided; max 256', 7), 1), [
      { fault: 'refused' },
    ])
    assert.deepEqual(read(refusal(-32_615, 'limited to a 5 range', 7), 1), [{ fault: 'refused' }])
  })
})

suite('an answer', () => {
  test('has the replies in the order of the calls', () => {
    assert.deepEqual(read(reply(7), 1), [{ result: 'ok' }])
    assert.deepEqual(read([reply(9, 'c'), reply(7, 'a'), reply(8, null)], 3), [
      { result: 'a' },
      { result: null },
      { result: 'c' },
    ])
    assert.deepEqual(read({ ...reply(7), error: null }, 1), [{ result: 'ok' }])
  })

  test('with an error of one call leaves the others', () => {
    assert.deepEqual(read([reply(7), refusal(-32_000, 'execution aborted', 8)], 2), [
      { result: 'ok' },
      { fault: 'rpc-error' },
    ])
  })

  test('that says that the server is behind or busy is told apart from a refusal', () => {
    assert.deepEqual(read(refusal(-32_005, 'Node is behind by 42 slots', 7), 1), [{ fault: 'lagging' }])
    assert.deepEqual(read(refusal(-32_000, 'transaction indexing is in progress', 7), 1), [
      { fault: 'lagging' },
    ])
    assert.deepEqual(read(refusal(-32_005, 'project ID request rate exceeded', 7), 1), [
      { fault: 'rate-limited' },
    ])
    assert.equal(
      read(refusal(-32_005, 'daily request count exceeded, request rate limited'), 3),
      'rate-limited',
    )
    // EIP-1474 gives this code to a limit, and Agave to a node that is behind.
    assert.deepEqual(read(refusal(-32_005, 'limit exceeded', 7), 1), [{ fault: 'rate-limited' }])
    assert.deepEqual(read(refusal(-32_005, 'Node is unhealthy', 7), 1), [{ fault: 'lagging' }])
    assert.deepEqual(read(refusal(-32_007, '50/second request limit reached', 7), 1), [
      { fault: 'rate-limited' },
    ])
    assert.deepEqual(read(refusal(-32_603, 'Internal error', 7), 1), [{ fault: 'rpc-error' }])
    assert.equal(read(refusal(-32_000, 'invalid API key'), 3, 401), 'http-status')
  })

  test('with a text as its error has that text as message', () => {
    const said = (body: unknown, status: number): unknown => {
      const text = JSON.stringify(body)
      const answer = { status, headers: new Headers(), text }
      try {
        return repliesOf(answer, { firstId: 7, calls: 1, secrets: ['KEY'] })
      } catch (error) {
        assert.ok(error instanceof RpcFailure)
        return { fault: error.fault, ...error.reply }
      }
    }
    assert.deepEqual(said({ error: 'unknown key KEY' }, 401), {
      fault: 'http-status',
      code: '401',
      message: 'unknown key …',
    })
    assert.deepEqual(said({ id: null, error: 'Too many requests' }, 200), {
      fault: 'rate-limited',
      code: 'none',
      message: 'Too many requests',
    })
    assert.deepEqual(read({ ...reply(7), error: 'no' }, 1), [{ fault: 'refused' }])
  })

  test('with a repeated member, anywhere, is refused', () => {
    for (const text of [
      '{"jsonrpc":"2.0","id":7,"result":1,"result":2}',
      '{"jsonrpc":"2.0","id":7,"result":{"value":[{"err":{},"slot":5,"err":null}]}}',
      '{"jsonrpc":"2.0","id":7,"result":{"err":null,"\\u0065rr":null}}',
      '{"jsonrpc":"2.0","id":7,"result":{"__proto__":1,"__proto__":2}}',
      '{"jsonrpc":"2.0","id":7,"id":7,"error":{"code":429,"message":"busy"}}',
    ])
      assert.equal(read(text, 1), 'repeated-member', text)
    const [one, two] = [JSON.stringify(reply(7)), '{"jsonrpc":"2.0","id":8,"result":1,"result":1}']
    assert.equal(read(`[${one},${two}]`, 2), 'repeated-member')
  })

  test('with the same member in several objects, or what looks like members in a string, is read', () => {
    const result = { a: { a: [{ a: 1 }, { a: 1 }] }, '"': ':', '\\': '\\":"a":', 'a:': '{"a":1,"a":2}' }
    assert.deepEqual(read(reply(7, result), 1), [{ result }])
  })

  test('with other ids, another length or another form is of no use', () => {
    assert.equal(read(reply(8), 1), 'wrong-id')
    assert.equal(read(reply('7'), 1), 'wrong-id')
    assert.equal(read(reply(null), 1), 'wrong-id')
    assert.equal(read([reply(7)], 1), 'wrong-id')
    assert.equal(read([reply(7), reply(7)], 2), 'wrong-id')
    assert.equal(read([reply(7), reply(9)], 2), 'wrong-id')
    assert.equal(read([reply(7)], 2), 'wrong-length')
    assert.equal(read(reply(7), 2), 'wrong-length')
    assert.equal(read([], 2), 'wrong-length')
    assert.equal(read([reply(7), reply(8), reply(9)], 2), 'wrong-length')
    assert.equal(read('', 1), 'no-json')
    assert.equal(read('null', 1), 'wrong-id')
    assert.deepEqual(read({ ...reply(7), jsonrpc: '1.0' }, 1), [{ fault: 'wrong-type' }])
    assert.deepEqual(read({ jsonrpc: '2.0', id: 7 }, 1), [{ fault: 'wrong-type' }])
    assert.deepEqual(read({ ...reply(7), error: 5 }, 1), [{ fault: 'wrong-type' }])
    assert.equal(read(reply(7), 1, 500), 'http-status')
    assert.equal(read(reply(7), 1, 302), 'http-status')
  })
})
