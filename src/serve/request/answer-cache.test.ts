import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { msOf } from '../../protocol/moment.ts'
import type { Reply } from '../http/route.ts'
import { type AnswerCache, openAnswerCache, openSharedAnswers } from './answer-cache.ts'
import type { AnswerJob, RequestJob } from './answer-job.ts'

type CodedReply = Extract<Reply, { is: 'coded' }>

function replyOf(body: string, parts: Partial<CodedReply> = {}): CodedReply {
  const kept = { keep: 'revalidate', etag: `"${body}"`, type: 'text/plain', rows: 0 } as const
  const coded = { coding: null, codable: false, compressible: true } as const
  return { is: 'coded', status: 200, body: Buffer.from(body), ...kept, ...coded, ...parts }
}

const at = (path: string) => ({ path, target: path })

/** Keeps an immutable answer of this length. */
function keep(cache: AnswerCache, path: string, bytes: number, parts: Partial<CodedReply> = {}): void {
  const reply = replyOf('x'.repeat(bytes), parts)
  cache.set(at(path), reply, { present: null, reply })
}

const isKept = (cache: AnswerCache, path: string) => cache.find(at(path), undefined) !== undefined

suite('the cache of finished answers', () => {
  test('keeps the answers used last, within its bytes', () => {
    const cache = openAnswerCache(() => '', 64 * 1024)
    keep(cache, '/used', 4_000)
    for (let index = 0; index < 100; index += 1) {
      keep(cache, `/${index}`, 4_000)
      assert.ok(isKept(cache, '/used'), `after ${index} others`)
    }
    const kept = Array.from({ length: 100 }, (_, index) => isKept(cache, `/${index}`))
    assert.deepEqual([kept[0], kept[99]], [false, true])
    assert.ok(kept.filter(Boolean).length < 16)
  })

  test('counts targets, which a link to the next page repeats', () => {
    const cache = openAnswerCache(() => '', 64 * 1024)
    const targets = Array.from({ length: 100 }, (_, index) => `/${index}?`.padEnd(4_000, 'a'))
    for (const target of targets) keep(cache, target, 10)
    const kept = targets.filter((target) => isKept(cache, target))
    assert.ok(kept.length > 0 && kept.length <= 8, `${kept.length} are kept`)
  })

  test('leaves out an answer that would evict many others', () => {
    const cache = openAnswerCache(() => '', 64 * 1024)
    keep(cache, '/large', 17 * 1024)
    assert.ok(!isKept(cache, '/large'))
  })

  test('has an answer for each coding, or one for all', () => {
    const cache = openAnswerCache(() => '')
    keep(cache, '/page', 2_000, { codable: true })
    keep(cache, '/page', 200, { codable: true, coding: 'gzip' })
    keep(cache, '/short', 20)
    const lengthOf = (path: string, coding?: string) => cache.find(at(path), coding)?.reply?.body.byteLength
    assert.equal(lengthOf('/page'), 2_000)
    assert.equal(lengthOf('/page', 'gzip'), 200)
    assert.equal(lengthOf('/page', 'br'), undefined)
    assert.equal(lengthOf('/short', 'br'), 20)
  })

  test('gives an immutable answer for ever, any other one until the log or the minute changes', () => {
    let head = 1
    const cache = openAnswerCache((path) => (path === '/status' ? `${head}, 5 behind` : String(head)))
    keep(cache, '/immutable', 10)
    const reply = replyOf('one')
    for (const path of ['/contests', '/status'])
      cache.set(at(path), reply, { present: cache.present(path), reply })
    assert.ok(['/immutable', '/contests', '/status'].every((path) => isKept(cache, path)))
    head += 1
    assert.deepEqual(
      ['/immutable', '/contests', '/status'].map((path) => isKept(cache, path)),
      [true, false, false],
    )
  })
})

const JOB: RequestJob = {
  is: 'request',
  method: 'GET',
  route: '/contests',
  ...at('/contests'),
  segments: {},
  query: new Map(),
  ifNoneMatch: undefined,
  acceptEncoding: undefined,
  now: msOf(0),
  latest: msOf(0),
}

const OTHER: RequestJob = { ...JOB, target: '/contests?limit=1' }

function openStage() {
  let head = 1
  const made: { job: AnswerJob; end: PromiseWithResolvers<Reply> }[] = []
  const answers = openSharedAnswers({
    cache: openAnswerCache(() => String(head)),
    places: 2,
    make(job) {
      const end = Promise.withResolvers<Reply>()
      made.push({ job, end })
      return end.promise.then((value) => ({ value, tookMs: 1 }))
    },
    monotonicMs: () => performance.now(),
  })
  return { answers, made, publish: () => (head += 1) }
}

suite('a shared answer', () => {
  test('is made once for all callers that ask while it is being made', async () => {
    const { answers, made } = openStage()
    const all = Array.from({ length: 50 }, (_, index) => answers.answer(`caller ${index}`, JOB))
    assert.equal(made.length, 1)
    made[0]?.end.resolve(replyOf('one'))
    assert.equal(new Set(await Promise.all(all)).size, 1)
    assert.equal(made.length, 1)
  })

  test('is cached while the log stays the same, and made again when it has grown', async () => {
    const { answers, made, publish } = openStage()
    const first = answers.answer('a', JOB)
    made[0]?.end.resolve(replyOf('one'))
    await first
    await answers.answer('b', JOB)
    assert.equal(made.length, 1)
    publish()
    void answers.answer('c', JOB)
    assert.equal(made.length, 2)
  })

  test('made while the log grew is cached only if it is immutable, because its state is unknown', async () => {
    for (const [keepIt, times] of [
      ['revalidate', 2],
      ['immutable', 1],
    ] as const) {
      const { answers, made, publish } = openStage()
      const first = answers.answer('a', JOB)
      publish()
      made[0]?.end.resolve(replyOf('one', { keep: keepIt }))
      await first
      void answers.answer('b', JOB)
      assert.equal(made.length, times, keepIt)
    }
  })

  test('is not cached when it is a refusal, a redirect, or varies by a further header', async () => {
    for (const reply of [
      { is: 'redirect', status: 303, location: '/' },
      { is: 'problem', problem: { code: 'not-found', detail: 'Nothing.' } },
      replyOf('no', { status: 404 }),
      replyOf('once', { keep: 'no-store' }),
      replyOf('json', { headers: { Vary: 'Accept' } }),
    ] as const satisfies readonly Reply[]) {
      const { answers, made } = openStage()
      const first = answers.answer('a', JOB)
      made[0]?.end.resolve(reply)
      assert.equal(await first, reply)
      void answers.answer('b', JOB)
      assert.equal(made.length, 2)
    }
  })

  test('depends on the coding and on the query', async () => {
    const { answers, made } = openStage()
    const first = answers.answer('a', JOB)
    made[0]?.end.resolve(replyOf('one', { codable: true }))
    await first
    await setImmediate()
    void answers.answer('b', { ...JOB, acceptEncoding: 'br' })
    void answers.answer('c', OTHER)
    assert.equal(made.length, 3)
  })

  test('is not made for a caller that has left before its turn', async () => {
    const { answers, made } = openStage()
    void answers.answer('a', OTHER)
    const left = answers.answer('a', JOB, () => true)
    made[0]?.end.resolve(replyOf('one'))
    assert.equal((await left).is, 'streamed')
    assert.equal(made.length, 1)
  })

  test('in progress does not make a new caller wait behind the queue of the first one', async () => {
    const { answers, made } = openStage()
    for (let index = 0; index < 100; index += 1)
      void answers.answer('attacker', { ...JOB, target: `/contests?limit=${index + 1}` })
    void answers.answer('attacker', JOB)
    const stranger = answers.answer('stranger', JOB)
    assert.equal(made.length, 2)
    made[1]?.end.resolve(replyOf('one'))
    assert.equal((await stranger).is, 'coded')
  })
})
