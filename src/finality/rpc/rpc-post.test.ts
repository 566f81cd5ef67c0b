import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import { chainUrlsOf } from './chain-url.ts'
import { RpcFailure } from './rpc-failure.ts'
import { postJson } from './rpc-post.ts'

/** Posts to a server that answers in this way. Returns the status and length, or the fault. */
async function post(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  timeoutMs = 30_000,
): Promise<unknown> {
  await using server = new AsyncDisposableStack()
  const http: Server = createServer((request, response) => answer(response, request))
  server.defer(() => {
    http.closeAllConnections()
    http.close()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const [url] = chainUrlsOf([`http://127.0.0.1:${(http.address() as AddressInfo).port}/`])
  assert.ok(url)
  const settings = {
    chain: 'evm',
    urls: [],
    signal: AbortSignal.any([]),
    timeoutMs,
    now: () => 0,
  } as const
  try {
    const { status, text } = await postJson(settings, url, {})
    return [status, text.length]
  } catch (error) {
    assert.ok(error instanceof RpcFailure)
    assert.equal(error.cause, undefined)
    assert.equal(error.message, error.fault)
    return error.fault
  }
}

const MAX = 4 * 1024 * 1024

suite('an answer to a POST request', () => {
  test('has 4 MiB at most', async () => {
    assert.deepEqual(await post((response) => response.end(' '.repeat(MAX))), [200, MAX])
    assert.equal(await post((response) => response.end(' '.repeat(MAX + 1))), 'too-long')
  })

  test('is not looked for where a redirect leads', async () => {
    let visits = 0
    const status = await post((response) => {
      visits++
      response.writeHead(307, { location: '/other' }).end()
    })
    assert.deepEqual([status, visits], [[307, 0], 1])
  })

  test('that comes in pieces may split a character', async () => {
    const [head, tail] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)]
    const status = await post((response) =>
      response.write(head, () => setTimeout(() => response.end(tail), 20)),
    )
    assert.deepEqual(status, [200, 1])
  })

  test('that breaks off is none', async () => {
    const cut = await post((response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{', () => response.destroy())
    })
    assert.equal(cut, 'unreachable')
  })

  test('that trickles is ended after the time for the whole', async () => {
    const started = performance.now()
    const slow = await post((response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    }, 300)
    assert.equal(slow, 'timeout')
    assert.ok(performance.now() - started < 10_000)
  })
})
