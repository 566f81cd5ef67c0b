import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { type Answer, ask, check, parseScript } from './http-script.ts'

suite('a script of the public contract', () => {
  const server = createServer((incoming, outgoing) => {
    outgoing.writeHead(incoming.url === '/stream' ? 200 : 404, { 'X-Seen': incoming.url ?? '' })
    outgoing.write(
      `{"method":"${incoming.method}","wish":"${String(incoming.headers['x-wish'])}","list":[7,8]}`,
    )
    if (incoming.url !== '/stream') outgoing.end()
  })
  let base = ''
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    base = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
  })
  after(() => server.close())

  const answerTo = async (script: string, captures = new Map<string, string>()): Promise<Answer> => {
    const [step] = parseScript(script)
    assert.ok(step !== undefined)
    return ask(base, step, captures)
  }

  test('is named after its sentences, or else after its request', () => {
    const steps = parseScript('# One.\n# Two.\nGET /a\ncode == 200\n\nHEAD /b?c=$d\nX-Wish: w\n')
    assert.deepEqual(
      steps.map((step) => step.name),
      ['One. Two.', 'HEAD /b?c=$d'],
    )
    assert.deepEqual(steps[1]?.headers, { 'X-Wish': 'w' })
  })

  test('is refused when a line has no meaning', () => {
    assert.throws(
      () => parseScript('GET /a\ncode is 200'),
      /not a request, header or check of a script: code is 200/,
    )
    assert.throws(() => parseScript('code == 200'), /not a request, header or check/)
  })

  test('sends its path unchanged, with captured values', async () => {
    const answer = await answerTo('GET /a//../%2e?x=$v\nX-Wish: $v', new Map([['v', 'seven']]))
    assert.equal(answer.headers['x-seen'], '/a//../%2e?x=seven')
    assert.match(answer.body.toString(), /"wish":"seven"/)
  })

  test('closes an endless answer when the awaited text has arrived', async () => {
    const answer = await answerTo('GET /stream\nuntil list')
    assert.equal(answer.code, 200)
  })

  test('checks every kind of line, and reports the actual value of a failed one', async () => {
    const answer = await answerTo('GET /a')
    const captures = new Map<string, string>()
    for (const [holds, fails] of [
      ['code == 404', 'code == 200'],
      ['header x-seen == /a', 'header x-seen == /b'],
      ['header x-seen contains a', 'header x-seen contains b'],
      ['header etag absent', 'header x-seen absent'],
      ['body contains "method":"GET"', 'body contains "method":"PUT"'],
      ['body absent seq', 'body absent method'],
      ['body matches "list":\\[\\d', 'body matches ^$'],
      ['json list.1 == 8', 'json list.1 == 7'],
      ['json list.length == 2', 'json list.2 == 8'],
      ['json list.0 != 8', 'json list.0 != 7'],
      ['capture first = json list.0', 'capture none = json list.9'],
      ['capture digit = body matches \\[(\\d)', 'capture digit = body matches (nothing)'],
      ['json list.0 == $digit', 'json list.0 == $unknown'],
    ] as const) {
      check(holds, answer, captures)
      assert.throws(() => check(fails, answer, captures), assert.AssertionError, fails)
    }
    assert.equal(captures.get('first'), '7')
  })
})
