import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findsAddress } from '../../protocol/address-guard.ts'
import { chainUrlsOf } from './chain-url.ts'
import { serverReply } from './server-reply.ts'

const messageOf = (message: unknown, secrets: readonly string[] = []): string =>
  serverReply(200, { code: -32_000, message }, secrets).message

suite('the code of a server', () => {
  test('is that of its error, or its HTTP status', () => {
    assert.equal(serverReply(200, { code: -32_015 }, []).code, '-32015')
    assert.equal(serverReply(500, { code: -32_603 }, []).code, '-32603')
    assert.equal(serverReply(403, null, []).code, '403')
    assert.equal(serverReply(403, { message: 'no' }, []).code, '403')
    assert.equal(serverReply(200, { code: '-32015' }, []).code, 'none')
  })

  test('is one of a closed list, however many a server invents', () => {
    const codes = new Set(
      Array.from({ length: 100_000 }, (_, at) => serverReply(200, { code: -at }, []).code),
    )
    for (let status = 100; status < 600; status += 1) codes.add(serverReply(status, null, []).code)
    assert.ok(codes.has('other'))
    assert.ok(codes.size <= 64, `${codes.size} codes`)
  })
})

suite('the message of a server', () => {
  test('stay as they are when they name methods, options, numbers and hosts', () => {
    for (const words of [
      'Transaction version (1) is not supported by the requesting client. Please try the request again with the ' +
        'following configuration parameter: "maxSupportedTransactionVersion": 1',
      'the method eth_getTransactionReceipt does not exist/is not available',
      'Slot 301234567 was skipped, or missing due to ledger jump to recent snapshot',
      'METHOD_NOT_FOUND: see https://docs.provider.example/errors?code=-32005',
      'Transaction history is not available from this node',
    ])
      assert.equal(messageOf(words), words)
  })

  test('repeat no part of the URL that may be a key', () => {
    const [url] = chainUrlsOf(['https://me:p%40ss@rpc.example/v2/a-long-secret/x?api-key=lettersonly&n=1'])
    const words = messageOf(
      'POST /v2/a-long-secret/x?api-key=lettersonly by me with p@ss or p%40ss',
      url?.secrets,
    )
    assert.equal(words, 'POST /v2/…/x?api-key=… by … with … or …')
  })

  test('repeat no key in another form, nor the header that is made of the login', () => {
    const [url, other] = chainUrlsOf([
      'https://me:pw@rpc.example/?key=ab+cd/ef==',
      'https://b.example/?Zm9v+mFy==',
    ])
    const words = messageOf('Basic bWU6cHc= and ab cd/ef== or ab+cd/ef== are wrong', url?.secrets)
    assert.equal(words, 'Basic … and … or … are wrong')
    assert.equal(messageOf('no key Zm9v+mFy== or Zm9v mFy==', other?.secrets), 'no key … or …')
  })

  test('hide what may be a key, a transaction or an address', () => {
    for (const secret of [
      'e3b0c44298fc1c149afbf4c8996fb924',
      'abcdef'.repeat(6),
      '0190163d-8694-739b-aea5-966c26f8ad91',
      `0x${'a1'.repeat(20)}`,
      '7GgPYjS5Dza89wV6FpZ23kUJRG5vbQ1GM25ezspYFSoE',
      '4Nd1mY1KkW6zUwz5gGZ9VQn3XQyJ7gUqV6k1FQm9cJ3vYt5oT7sRr1hB2dXeLpZaGfWuNqCkMiSjPbEvHxDyAoTz',
      'QWERTYUIOPASDFGHJKLZXC',
    ]) {
      assert.equal(messageOf(`key "${secret}" is not allowed`), 'key "…" is not allowed')
      assert.ok(!findsAddress(messageOf(`account ${secret} not found`), 'prose'))
    }
  })

  test('are one bounded line of printable characters, however long the message', () => {
    assert.equal(messageOf('one\r\n\u001b[31mtwo\u202e'), 'one ?[31mtwo?')
    for (const unit of ['a', 'aB', '_', 'A', ' ', '1', 'a1_'])
      assert.ok(messageOf(unit.repeat(2_000_000)).length <= 200)
    assert.equal(messageOf(undefined), '')
    assert.equal(messageOf({ toString: 'no' }), '')
  })
})
