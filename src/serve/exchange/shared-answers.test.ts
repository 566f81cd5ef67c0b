import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { msOf } from '../../protocol/moment.ts'
import type { Question } from './thread-question.ts'
import type { Reply } from '../http/route.ts'
import { openSharedAnswers } from './shared-answers.ts'

const QUESTION: Question = {
  refused: null,
  method: 'GET',
  path: '/contests',
  rawQuery: '',
  ifNoneMatch: undefined,
  acceptEncoding: undefined,
  now: msOf(0),
  latest: msOf(0),
}

function replyOf(body: string): Reply {
  const kept = { keep: 'revalidate', etag: `"${body}"`, type: 'text/plain', rows: 0 } as const
  const coded = { coding: null, codable: false, compressible: true } as const
  return { is: 'coded', status: 200, body: Buffer.from(body), ...kept, ...coded }
}

function openStage() {
  let head = 1
  const asked: { question: Question; end: PromiseWithResolvers<Reply> }[] = []
  const answers = openSharedAnswers({
    places: 2,
    ask(question) {
      const end = Promise.withResolvers<Reply>()
      asked.push({ question, end })
      return end.promise.then((value) => ({ value, tookMs: 1 }))
    },
    present: () => String(head),
    monotonicMs: () => performance.now(),
  })
  return {
    answers,
    asked,
    publish: () => (head += 1),
  }
}

suite('a shared answer', () => {
  test('is made once for all callers that ask while it is being made', async () => {
    const { answers, asked } = openStage()
    const all = Array.from({ length: 50 }, (_, index) => answers.answer(`caller ${index}`, QUESTION))
    assert.equal(asked.length, 1)
    asked[0]?.end.resolve(replyOf('one'))
    const replies = new Set(await Promise.all(all))
    assert.equal(replies.size, 1)
    assert.equal(asked.length, 1)
  })

  test('is cached while the log stays the same, and made again when it has grown', async () => {
    const { answers, asked, publish } = openStage()
    const first = answers.answer('a', QUESTION)
    asked[0]?.end.resolve(replyOf('one'))
    await first
    await answers.answer('b', QUESTION)
    assert.equal(asked.length, 1)
    publish()
    void answers.answer('c', QUESTION)
    assert.equal(asked.length, 2)
  })

  test('made while the log grew is not cached, because its state is unknown', async () => {
    const { answers, asked, publish } = openStage()
    const first = answers.answer('a', QUESTION)
    publish()
    asked[0]?.end.resolve(replyOf('one'))
    await first
    void answers.answer('b', QUESTION)
    assert.equal(asked.length, 2)
  })

  test('to a caller that has it already has no body, and is not cached', async () => {
    const { answers, asked } = openStage()
    const holder = answers.answer('a', { ...QUESTION, ifNoneMatch: '"one"' })
    asked[0]?.end.resolve({ ...replyOf('one'), body: new Uint8Array(0) } as Reply)
    await holder
    void answers.answer('b', QUESTION)
    assert.equal(asked.length, 2)
  })

  test('depends on the coding and on the query', async () => {
    const { answers, asked } = openStage()
    const first = answers.answer('a', QUESTION)
    asked[0]?.end.resolve(replyOf('one'))
    await first
    await setImmediate()
    void answers.answer('b', { ...QUESTION, acceptEncoding: 'br' })
    void answers.answer('c', { ...QUESTION, rawQuery: 'limit=1' })
    assert.equal(asked.length, 3)
  })

  test('is not made for a caller that has left before its turn', async () => {
    const { answers, asked } = openStage()
    void answers.answer('a', { ...QUESTION, rawQuery: 'limit=1' })
    const left = answers.answer('a', QUESTION, () => true)
    asked[0]?.end.resolve(replyOf('one'))
    assert.equal((await left).is, 'taken')
    assert.equal(asked.length, 1)
  })

  test('in progress does not make a new caller wait behind the queue of the first one', async () => {
    const { answers, asked } = openStage()
    for (let index = 0; index < 100; index += 1) {
      void answers.answer('attacker', { ...QUESTION, rawQuery: `limit=${index + 1}` })
    }
    void answers.answer('attacker', QUESTION)
    const stranger = answers.answer('stranger', QUESTION)
    assert.equal(asked.length, 2)
    asked[1]?.end.resolve(replyOf('one'))
    const reply = await stranger
    assert.ok(reply.is === 'coded')
    await setImmediate()
  })
})
