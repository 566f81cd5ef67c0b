import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { DRAFT_LINE_BYTES_MAX, DRAFTS_MAX } from '../../protocol/draft.ts'
import { cutArray, cutLines, parseBody } from './draft-body.ts'
import { FAULTS_MAX } from './outcome.ts'

const DRAFTS = 1_000
const draft = (ref: string) => ({ ref, type: 'trade', kind: 'buy', kots: '1' })

/** Drafts of a body, the line of each, and the fault of the whole. */
function cut(cutting: ReturnType<typeof cutArray>) {
  const drafts: string[] = []
  const lines: (number | undefined)[] = []
  for (let found = cutting.next(); ; found = cutting.next()) {
    if (found.done === true) return { drafts, lines, fault: found.value }
    drafts.push(found.value.bytes.toString())
    lines.push(found.value.line)
  }
}

suite('a body', () => {
  test('that is an array is cut where JSON says', () => {
    const values = fc.array(
      fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.constant({ '],"\\': '[{,' })),
    )
    fc.assert(
      fc.property(values, fc.constantFrom(0, 2), (drafts, indent) => {
        const text = JSON.stringify(drafts, null, indent)
        const found = cut(cutArray(Buffer.from(` ${text}\n`)))
        assert.equal(found.fault, null)
        assert.deepEqual(
          found.drafts.map((one) => JSON.parse(one)),
          JSON.parse(text),
        )
      }),
    )
  })

  test('is no array when JSON says so, whatever its drafts are', () => {
    const pieces = fc.constantFrom('{"a":"]"}', '{}', '[', ']', '{', '}', ',', ' ', '"', '\\', '1')
    let arrays = 0
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join('')
        const { drafts, fault } = cut(cutArray(Buffer.from(text)))
        const isArray = fault === null && drafts.every(isJsonObject)
        let parsed: unknown
        try {
          parsed = JSON.parse(text)
        } catch {
          parsed = undefined
        }
        const isObject = (one: unknown): boolean => isJsonObject(JSON.stringify(one))
        assert.equal(isArray, Array.isArray(parsed) && parsed.every(isObject), text)
        if (isArray) arrays += 1
      }),
      { numRuns: 20_000, seed: 20_261_128 },
    )
    assert.ok(arrays > 20, `${arrays} were arrays`)
  })

  test('of lines has a draft for each line that is not blank, with its number', () => {
    const text = '{"a":1}\r\n\n \t\n{"b":2}\n\ufeff\n{"c":3}'
    const { drafts, lines } = cut(cutLines(Buffer.from(text)))
    assert.deepEqual(drafts, ['{"a":1}\r', '{"b":2}', '\ufeff', '{"c":3}'])
    assert.deepEqual(lines, [1, 4, 5, 6])
  })

  test('keeps no draft that is longer than one may be', async () => {
    const long = `{"ref":"${'a'.repeat(DRAFT_LINE_BYTES_MAX)}"}`
    const short = JSON.stringify(draft('b'))
    for (const [text, isLines] of [
      [`[${long},${short}]`, false],
      [`${long}\n${short}`, true],
    ] as const) {
      const body = await parseBody(Buffer.from(text), isLines, 'opaque')
      assert.ok(!body.ok)
      assert.deepEqual(
        body.faults?.map(({ index, reason }) => [index, reason]),
        [[0, `is longer than ${DRAFT_LINE_BYTES_MAX} bytes`]],
      )
    }
  })
})

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

suite('the drafts of a request', () => {
  test('leave the thread to other work between fifty of them', async () => {
    const drafts = Array.from({ length: DRAFTS }, (_, number) => draft(`draft-${number}`))
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const body = await parseBody(Buffer.from(JSON.stringify(drafts)), false, 'opaque')
    isDone = true
    assert.ok(body.ok)
    assert.equal(body.drafts.length, DRAFTS)
    assert.ok(turns >= DRAFTS / 50 - 1, `${turns} turns`)
  })

  test('are refused when they are too many, whatever follows', async () => {
    const text = `[${'{},'.repeat(DRAFTS_MAX + 1)}no JSON`
    const body = await parseBody(Buffer.from(text), false, 'opaque')
    assert.equal(body.ok ? null : body.code, 'too-large')
  })

  test(`are refused with each bad one, ${FAULTS_MAX} at most`, async () => {
    const bad = Array.from({ length: FAULTS_MAX + 5 }, (_, number) => `{"ref":"bad-${number}"}`)
    const text = [JSON.stringify(draft('good')), '', ...bad].join('\n')
    const body = await parseBody(Buffer.from(text), true, 'opaque')
    assert.ok(!body.ok)
    assert.deepEqual(
      body.faults?.map(({ index, line, ref, field }) => [index, line, ref, field]),
      Array.from({ length: FAULTS_MAX }, (_, number) => [number + 1, number + 3, `bad-${number}`, 'type']),
    )
  })
})
