import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { LATE, openQuestions } from './questions.ts'

suite('a question to another thread', () => {
  test('is answered by its number, for any order of answers', async () => {
    const questions = openQuestions<string>()
    const ids: number[] = []
    const answers = [1, 2].map(() => questions.ask(60_000, (id) => ids.push(id)))
    questions.answer(ids[1] ?? 0, 'second')
    questions.answer(ids[0] ?? 0, 'first')
    assert.deepEqual(await Promise.all(answers), ['first', 'second'])
  })

  test('is late after its limit, and what comes then is dropped', async () => {
    const questions = openQuestions<string>()
    let asked = 0
    assert.equal(await questions.ask(1, (id) => (asked = id)), LATE)
    questions.answer(asked, 'too late')
  })

  test('is answered with every other open one when the thread fails', async () => {
    const questions = openQuestions<string>()
    const answers = [1, 2].map(() => questions.ask(60_000, () => undefined))
    questions.answerAll('failed')
    assert.deepEqual(await Promise.all(answers), ['failed', 'failed'])
  })

  test('is not late because the asker itself was held up', async () => {
    const questions = openQuestions<string>()
    const { port1, port2 } = new MessageChannel()
    port2.on('message', (id: number) => questions.answer(id, 'in time'))
    const answer = questions.ask(20, (id) => port1.postMessage(id))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40)
    assert.equal(await answer, 'in time')
    port1.close()
  })
})
