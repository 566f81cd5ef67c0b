import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { writeLastBackup } from '../../log/backup/last-backup.ts'
import { msOf } from '../../protocol/moment.ts'
import { type AnswerReport, SLOW_ANSWER_MS } from '../../serve/request/request-path.ts'
import { type FactName, FACTS } from './facts.ts'
import { type LineValues, type LogLines, openLines } from './log-lines.ts'
import { answerLines, openPublicationLines, sayStreamEnd, watchBackups } from './node-lines.ts'

type Written = Readonly<{ name: FactName; values: LineValues }>

/** Lines of every level that are collected. */
function collectLines(onLine = (): void => undefined): Readonly<{ lines: LogLines; written: Written[] }> {
  const written: Written[] = []
  const lines = openLines(
    (name, values) => {
      written.push({ name, values })
      onLine()
    },
    () => 0,
    { level: 'debug', callers: false },
  )
  return { lines, written }
}

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

suite('the line of an answer', () => {
  const cases: readonly (readonly [fact: FactName, level: string, answer: Partial<AnswerReport>])[] = [
    ['failed', 'error', { status: 500, code: 'internal-error', error: new Error('broken') }],
    ['failed', 'error', { status: 500, error: new Error('broken'), ms: SLOW_ANSWER_MS }],
    ['unready', 'warn', { status: 503, code: 'not-ready' }],
    ['problem', 'debug', { status: 503, code: 'not-made', ms: SLOW_ANSWER_MS }],
    ['slow', 'warn', { ms: SLOW_ANSWER_MS }],
    ['slow', 'warn', { status: 404, ms: SLOW_ANSWER_MS + 1 }],
    ['problem', 'debug', { status: 404, code: 'not-found' }],
    ['answered', 'debug', { ms: SLOW_ANSWER_MS - 1 }],
  ]
  for (const [fact, level, answer] of cases) {
    test(`with status ${answer.status ?? 200} after ${answer.ms ?? ANSWER.ms} ms is ${fact}`, () => {
      const { lines, written } = collectLines()
      answerLines(lines).answered({ ...ANSWER, ...answer })
      const [{ name, values } = assert.fail('a line is written')] = written
      assert.deepEqual([name, FACTS[name].level, values['request']], [fact, level, 'a-1'])
      assert.equal(values['code'], answer.code ?? 'none')
      assert.doesNotMatch(JSON.stringify(values), /203\.0\.113/)
    })
  }

  test('of a stream is written at info only when the node cut it', () => {
    const { lines, written } = collectLines()
    for (const why of ['client', 'lifetime', 'drain', 'slow', 'error'] as const)
      sayStreamEnd(lines, { why, seq: 7 as never })
    const told = written
      .filter(({ name }) => FACTS[name].level === 'info')
      .map(({ values }) => values['fault'])
    assert.deepEqual(told, ['slow', 'error'])
  })
})

suite('lines about publications', () => {
  const COMMIT = { atMs: msOf(0), requests: 1, held: 0, ms: 2 }

  test('name each seq once, ten times a second at most', () => {
    let clockMs = 0
    const { lines, written } = collectLines()
    const writer = openPublicationLines(lines, () => clockMs)
    let seq = 0
    for (let times = 0; times < 500; times += 1) {
      seq += 3
      writer.committed({ ...COMMIT, seq: seq as never, events: 3 })
      clockMs += 2
    }
    writer.flush()
    assert.ok(written.length <= 11, `${written.length} lines in a second`)
    let last = 0
    for (const { values } of written) {
      assert.equal(values['first'], last + 1)
      last = Number(values['last'])
    }
    assert.equal(last, seq)
    assert.equal(
      written.reduce((sum, { values }) => sum + Number(values['commits']), 0),
      500,
    )
  })

  test('of several commits say the time from the first request to the last commit', () => {
    let clockMs = 0
    const { lines, written } = collectLines()
    const writer = openPublicationLines(lines, () => clockMs)
    for (const seq of [1, 2, 3, 4]) {
      clockMs += 5
      // Each waited for the commit before.
      writer.committed({ ...COMMIT, seq: seq as never, events: 1, ms: 10 })
    }
    writer.flush()
    assert.deepEqual([written[1]?.values['commits'], written[1]?.values['ms']], [3, 20])
  })
})

test('a backup that another process makes has one line, and the one before the start has none', async () => {
  const data = mkdtempSync(join(tmpdir(), 'daybook-backup-lines-'))
  const made = (at: number, events: number): void =>
    writeLastBackup(data, { at: msOf(at), verifiedAt: msOf(at + 250), events, bytes: 9 })
  let heard = Promise.withResolvers<void>()
  const { lines, written } = collectLines(() => heard.resolve())
  made(1_000, 3)
  using _watch = watchBackups(data, lines, 5)
  // The watch alone keeps no process alive.
  const alive = setInterval(() => {}, 1_000)
  try {
    made(2_000, 4)
    await heard.promise
    heard = Promise.withResolvers()
    made(3_000, 5)
    await heard.promise
  } finally {
    clearInterval(alive)
    rmSync(data, { recursive: true })
  }
  assert.deepEqual(
    written.map(({ name, values }) => [name, values]),
    [
      ['backed-up', { events: 4, ms: 250 }],
      ['backed-up', { events: 5, ms: 250 }],
    ],
  )
})
