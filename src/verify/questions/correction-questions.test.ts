import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Source } from '../reading/source.ts'
import { correctionQuestions } from './correction-questions.ts'

/** A service of a log of 20 events, in which these events correct the ones before them. */
function serviceWith(corrections: readonly number[]): Source {
  const answerTo = (path: string): object => {
    const before = Number(/before=(\d+)/.exec(path)?.[1])
    const seq = Number(/^events\/(\d+)\/details/.exec(path)?.[1])
    if (!Number.isNaN(seq)) return { details: { corrects: seq - 1 } }
    const newest = corrections.filter((each) => each < before).toSorted((a, b) => b - a)
    return { events: newest.slice(0, 3).map((each) => ({ seq: each })) }
  }
  return {
    is: 'service',
    read: async (path) => Buffer.from(JSON.stringify(answerTo(path))),
    months: async () => [],
    pause: async () => {},
  }
}

async function askedWith(corrections: readonly number[], chances: readonly number[]): Promise<string> {
  const [...left] = chances
  const chance = (): number => left.shift() ?? 0
  const questions = await correctionQuestions({ source: serviceWith(corrections), chance }, 20)
  return questions.map(({ path }) => /\d+/.exec(path)?.[0]).join(' ')
}

suite('the questions about corrections', () => {
  test('are about the newest ones before a random seq, and one random event', async () => {
    assert.equal(await askedWith([4, 6, 8, 10, 18], [0.5, 0]), '9 7 5 1')
    assert.equal(await askedWith([4, 6, 8, 10, 18], [0.99, 0.1]), '17 9 7 3')
  })

  test('are about the newest of all when there is none before it', async () => {
    assert.equal(await askedWith([15, 18], [0, 0]), '17 14 1')
    assert.equal(await askedWith([], [0, 0]), '1')
  })

  test('are about no event after those that are checked, also when the log has grown', async () => {
    assert.equal(await askedWith([20, 21], [0, 0]), '19 1')
    assert.equal(await askedWith([21], [0.99, 0.99]), '20')
  })
})
