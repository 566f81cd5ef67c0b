import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import type { StoryEvent } from '../../../../test/story/api-story.ts'

const trade = (tx: string): StoryEvent => ({ type: 'trade', kind: 'buy', kots: '1', tx })

let stage: ApiStage
before(async () => {
  stage = await openApiStage({
    story: [trade('named-once'), trade('named_twice'), trade('named_twice'), trade('9'.repeat(128))],
  })
})
after(() => stage[Symbol.asyncDispose]())

const ask = (path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })

suite('the address of a transaction', () => {
  const led: readonly (readonly [path: string, to: string])[] = [
    ['/tx/named-once', '/events/1'],
    ['/tx/named_twice', '/events?tx=named_twice'],
    [`/tx/${'9'.repeat(128)}`, '/events/4'],
    ['/find?q=named-once', '/events/1'],
    ['/find?q=%20named-once%20', '/events/1'],
    ['/find?q=https%3A%2F%2Fexplorer.example%2Ftx%2Fnamed-once%3Fcluster%3Dmainnet-beta', '/events/1'],
    ['/find?q=explorer.example%2Ftx%2Fnamed_twice%2F%23events', '/events?tx=named_twice'],
  ]
  for (const [path, to] of led) {
    test(`${path} redirects to ${to}`, async () => {
      const response = await ask(path)
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), to)
      // The next event may change the target.
      assert.match(response.headers.get('cache-control') ?? '', /no-store|max-age=0/)
      assert.equal((await stage.get(to)).status, 200)
    })
  }

  test('shows every event that names it', async () => {
    const page = await (await ask('/events?tx=named_twice')).text()
    const rows = [...page.matchAll(/<th scope="row"><a class="seq" href="\/events\/(\d+)"/g)].map(
      ([, seq]) => seq,
    )
    assert.deepEqual(rows, ['2', '3'])
    assert.match(page, /name="tx"[^>]*value="named_twice"/)
    assert.doesNotMatch(page, /href="\/stream\?/)
  })

  test('that no event names answers 404 and explains that it may not be final', async () => {
    for (const path of ['/tx/nobody-paid', '/tx/named-Once']) {
      const response = await ask(path)
      const page = await response.text()
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.match(page, /<h1>No event names this transaction<\/h1>/)
      assert.match(page, /The operator publishes a payment when its transaction is final/)
      assert.match(page, /data-head="4"/)
      assert.doesNotMatch(page, /nobody-paid|named-Once/)
    }
    for (const path of ['/find?q=nobody-paid', '/events?tx=nobody-paid']) {
      const response = await ask(path)
      assert.equal(response.status, 200)
      assert.match(await response.text(), /The operator publishes a payment when its transaction is final/)
    }
  })

  test('redirects once its event is published', async () => {
    await using other = await openApiStage({ story: [trade('named-once'), trade('nobody-paid')] })
    assert.equal((await ask('/tx/nobody-paid')).status, 404)
    const response = await fetch(`http://127.0.0.1:${other.port}/tx/nobody-paid`, { redirect: 'manual' })
    assert.equal(response.headers.get('location'), '/events/2')
  })

  test('is refused if it is no valid transaction id, and is not repeated', async () => {
    for (const path of ['/tx/short', `/tx/${'a'.repeat(129)}`, '/tx/with.dots.in']) {
      const response = await ask(path)
      const page = await response.text()
      assert.equal(response.status, 400)
      assert.match(page, /must be 8 to 128 of the characters/)
      assert.ok(!page.includes(path.slice(4)))
    }
  })

  test('is linked from the page of its event', async () => {
    const page = await (await ask('/events/2')).text()
    assert.match(page, /<a href="\/events\?tx=named_twice">Every event of this transaction<\/a>/)
    assert.doesNotMatch(await (await stage.get('/events/1')).text(), /named_twice/)
  })
})
