import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { suite, test } from 'node:test'
import { msOf } from '../../protocol/moment.ts'
import { type AnswerReport, SLOW_ANSWER_MS } from '../../serve/exchange/answer-report.ts'
import { openMainLines } from './log-lines.ts'
import { answerLines, sayStreamEnd } from './request-lines.ts'

const ANSWER: AnswerReport = {
  request: 'a-1',
  route: '/api/v1/events',
  status: 200,
  code: null,
  ms: 3.4,
  error: null,
  traceparent: undefined,
  caller: '203.0.113.77',
}

const CASES: readonly (readonly [fact: string, level: string, answer: Partial<AnswerReport>])[] = [
  ['failed', 'error', { status: 500, code: 'internal-error', error: new Error('broken') }],
  ['failed', 'error', { status: 500, error: new Error('broken'), ms: SLOW_ANSWER_MS }],
  ['unready', 'warn', { status: 503, code: 'not-ready' }],
  ['slow', 'warn', { ms: SLOW_ANSWER_MS }],
  ['slow', 'warn', { status: 404, ms: SLOW_ANSWER_MS + 1 }],
  ['problem', 'debug', { status: 404, code: 'not-found' }],
  ['answered', 'debug', { ms: SLOW_ANSWER_MS - 1 }],
]

suite('the line of an answer', () => {
  for (const [fact, level, answer] of CASES) {
    test(`with status ${answer.status ?? 200} after ${answer.ms ?? ANSWER.ms} ms is ${fact}`, () => {
      let text = ''
      const stderr = new Writable({
        write(chunk: Buffer, _encoding, done) {
          text += chunk.toString()
          done()
        },
      })
      const lines = openMainLines({ now: () => msOf(0), monotonicMs: () => 0, stderr, interactive: false })
      lines.choose({ level: 'debug', callers: false, without: [] })
      answerLines(lines).answered({ ...ANSWER, ...answer })
      const line = JSON.parse(text) as Readonly<Record<string, unknown>>
      assert.deepEqual([line['fact'], line['level'], line['request']], [fact, level, 'a-1'])
      assert.equal(line['code'], answer.code ?? 'none')
      assert.doesNotMatch(text, /203\.0\.113/)
    })
  }

  test('of a stream is written at info only when the node cut it', () => {
    const facts: string[] = []
    const stderr = new Writable({
      write(chunk: Buffer, _encoding, done) {
        facts.push((JSON.parse(chunk.toString()) as { fact: string }).fact)
        done()
      },
    })
    const lines = openMainLines({ now: () => msOf(0), monotonicMs: () => 0, stderr, interactive: false })
    for (const why of ['client', 'lifetime', 'drain', 'slow', 'error'] as const)
      sayStreamEnd(lines, { why, seq: 7 as never })
    assert.deepEqual(facts, ['stream-cut', 'stream-cut'])
  })
})
