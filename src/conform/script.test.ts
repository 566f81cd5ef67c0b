import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Captures, runCheck, SEARCHED_CHARS_MAX, TOO_LONG } from './check.ts'
import { parseCheck, parseScript } from './script.ts'
import type { SentAnswer } from './sender.ts'

const BODY = '{"method":"GET","list":[7,8],"text":"a.b"}'

function answerOf(fields: Partial<SentAnswer> = {}): SentAnswer {
  const headers = new Headers({ 'X-Seen': '/a' })
  return {
    code: 404,
    headers,
    body: Buffer.from(BODY),
    isCut: false,
    isSized: false,
    json: () => JSON.parse(BODY),
    ...fields,
  }
}

function run(line: string, answer: SentAnswer, captures: Captures): ReturnType<typeof runCheck> {
  const check = parseCheck(line)
  assert.ok(check !== undefined, line)
  return runCheck(check, answer, captures)
}

suite('a script of the public contract', () => {
  test('is named after its sentences, or else after its request', () => {
    const steps = parseScript('# One.\n# Two.\nGET /a\ncode == 200\n\nHEAD /b?c=$d\nX-Wish: w\n')
    assert.deepEqual(
      steps.map((step) => step.name),
      ['One. Two.', 'HEAD /b?c=$d'],
    )
    assert.deepEqual(steps[1]?.headers, { 'X-Wish': 'w' })
  })

  test('is refused when a line has no meaning, or when it could write', () => {
    for (const text of [
      'GET /a\ncode is 200',
      'code == 200',
      'GET /a\nneeds five events',
      'DELETE /a',
      'PUT /a',
    ])
      assert.throws(() => parseScript(text), /not a request, header or check of a script/, text)
  })

  test('says what the log must have', () => {
    const [step] = parseScript(
      'GET /a\nneeds 1,060 days\nneeds fewer than 3 events\nneeds a prize: capture p = body',
    )
    assert.deepEqual(step?.sizes, [
      { fewer: false, count: 1060, unit: 'days', text: '1,060 days' },
      { fewer: true, count: 3, unit: 'events', text: 'fewer than 3 events' },
    ])
    assert.deepEqual(
      step?.checks.map(({ needs, line, capture }) => [needs, line, capture]),
      [['a prize', 'capture p = body', 'p']],
    )
  })

  test('checks every kind of line, and reports the actual value of a failed one', () => {
    const captures: Captures = new Map()
    for (const [holds, fails, was] of [
      ['code == 404', 'code == 200', '404'],
      ['code >= 404', 'code >= 405', '404'],
      ['code <= 404', 'code <= 403', '404'],
      ['header x-seen == /a', 'header x-seen == /b', '/a'],
      ['header x-seen contains a', 'header x-seen contains b', '/a'],
      ['header etag absent', 'header x-seen absent', '/a'],
      ['body contains "method":"GET"', 'body contains "method":"PUT"', BODY],
      ['body absent seq', 'body absent method', BODY],
      ['body matches "list":\\[\\d', 'body matches ^$', BODY],
      ['json list.1 == 8', 'json list.1 == 7', '8'],
      ['json list.length == 2', 'json list.2 == 8', 'nothing'],
      ['json list.0 != 8', 'json list.0 != 7', '7'],
      ['json method == GET', 'json constructor matches .', 'nothing'],
      ['capture first = json list.0', 'capture none = json list.9', 'nothing'],
      ['capture digit = body matches \\[(\\d)', 'capture digit = body matches (nothing)', BODY],
      ['json list.0 == $digit', 'json list.0 == $unknown', 'nothing was captured as unknown'],
    ] as const) {
      const answer = answerOf()
      assert.equal(run(holds, answer, captures), null, holds)
      assert.deepEqual(Object(run(fails, answer, captures)).was, was, fails)
    }
    assert.equal(captures.get('first'), '7')
  })

  test('takes what it captured for text, never for a pattern', () => {
    const captures: Captures = new Map([
      ['evil', '(a+)+$'],
      ['dot', 'a.b'],
    ])
    assert.notEqual(
      run('body matches $evil', answerOf({ body: Buffer.from('a'.repeat(40)) }), captures),
      null,
    )
    assert.equal(run('json text matches ^$dot$', answerOf(), captures), null)
    const other = answerOf({ body: Buffer.from('axb') })
    assert.notEqual(run('body matches ^$dot$', other, captures), null)
  })

  test('searches the beginning of a long answer, and does not judge one that was cut', () => {
    const long = answerOf({ body: Buffer.from(`${' '.repeat(SEARCHED_CHARS_MAX)}x`) })
    assert.notEqual(run('body matches x', long, new Map()), null)
    assert.equal(run('sha256 == 0', answerOf({ isCut: true, isSized: true }), new Map()), TOO_LONG)
    const endless = answerOf({ isCut: true })
    assert.match(Object(run('body contains x', endless, new Map())).was, /without an end/)
    assert.equal(run('code == 404', endless, new Map()), null)
  })
})
