import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { allocateAllowance, openAllowance } from '../allowance/allowance.ts'

const PAGE = '/api/v1/events?after=0&limit=50'

/** Parts of an answer that a caller can see. */
async function seen(response: Response): Promise<unknown> {
  const { status, headers } = response
  const lasting = [...headers].filter(([name]) => name !== 'date')
  return { status, headers: lasting, body: await response.text() }
}

suite('a ready answer', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage()
    stage.trade(100)
  })
  after(() => stage[Symbol.asyncDispose]())

  for (const path of ['/api/v1/events/1', '/api/v1/events/1/details', PAGE, `${PAGE}&format=csv`]) {
    test(`is the same as the first answer: ${path}`, async () => {
      for (const coding of ['identity', 'gzip', 'br', 'zstd', 'gzip;q=0']) {
        const headers = { 'Accept-Encoding': coding }
        const first = await stage.get(path, headers)
        const etag = first.headers.get('etag') ?? ''
        const told = await seen(first)
        for (let again = 0; again < 3; again += 1) {
          assert.deepEqual(await seen(await stage.get(path, headers)), told)
        }
        const held = await stage.get(path, { ...headers, 'If-None-Match': etag })
        assert.equal(held.status, 304)
        assert.equal(held.headers.get('etag'), etag)
        assert.equal(held.headers.get('cache-control'), 'public, max-age=31536000, immutable')
        assert.equal(held.headers.get('content-type'), null)
        const head = await stage.get(path, headers, 'HEAD')
        assert.equal(head.headers.get('etag'), etag)
        assert.equal(await head.text(), '')
      }
    })
  }

  test('is found for the same query with empty pairs in it', async () => {
    const first = await stage.get(`${PAGE}&type=trade`)
    const etag = first.headers.get('etag') ?? ''
    const [path, query = ''] = `${PAGE}&type=trade`.split('?')
    for (const target of [
      `${path}?&${query}`,
      `${path}?${query}&`,
      `${path}?${query.replaceAll('&', '&&')}`,
    ]) {
      assert.deepEqual(await seen(await stage.get(target)), await seen(await stage.get(`${PAGE}&type=trade`)))
      assert.equal((await stage.get(target, { 'If-None-Match': etag })).status, 304)
    }
  })

  test('is refused when the caller has used up the allowance', async () => {
    const policy = { name: 'default', requests: 3, windowMs: 60_000 }
    const allowance = openAllowance(allocateAllowance(policy, 'a secret of this test', 100))
    const counter = { policy, decide: (caller: string) => allowance.decide(caller, 1_000) }
    await using limited = await openApiStage({ counters: { api: counter, tiles: counter, pages: counter } })
    const codes: number[] = []
    for (let index = 0; index < 5; index += 1) codes.push((await limited.get('/api/v1/events/1')).status)
    assert.deepEqual(codes, [200, 200, 200, 429, 429])
  })

  test('fails like any other answer when the allowance fails', async () => {
    let broken = false
    const policy = { name: 'default', requests: 3, windowMs: 60_000 }
    const decide = () => {
      if (broken) throw new Error('the allowance fails')
      return { allowed: true, remaining: 1, resetSeconds: 1, retryAfterSeconds: 0 }
    }
    const counter = { policy, decide }
    await using failing = await openApiStage({ counters: { api: counter, tiles: counter, pages: counter } })
    assert.equal((await failing.get('/api/v1/events/1')).status, 200)
    broken = true
    assert.equal((await failing.get('/api/v1/events/1')).status, 500)
    assert.equal(failing.reported.length, 1)
  })

  test('is refused like any other answer while the node is not ready', async () => {
    await stage.get('/api/v1/events/2')
    stage.setUnready({ code: 'not-ready', detail: 'Not yet.' })
    assert.equal((await stage.get('/api/v1/events/2')).status, 503)
    stage.setUnready(undefined)
    assert.equal((await stage.get('/api/v1/events/2')).status, 200)
  })
})
