import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { DRAFT_LINE_BYTES_MAX, DRAFTS_MAX } from '../../protocol/draft.ts'
import { type DraftCutter, openArrayCutter, openBodyParser, openLineCutter } from './draft-body.ts'
import { FAULTS_MAX } from './outcome.ts'

const DRAFTS = 1_000
const draft = (ref: string) => ({ ref, type: 'trade', kind: 'buy', kots: '1' })

/** Cuts bytes that come in pieces of these lengths, again and again. */
function cut(cutter: DraftCutter, bytes: Buffer, lengths: readonly number[]) {
  const drafts: (string | null)[] = []
  const lines: (number | undefined)[] = []
  const add = (found: ReturnType<DraftCutter['take']>): void => {
    for (const { bytes: own, line } of found) {
      drafts.push(own?.toString() ?? null)
      lines.push(line)
    }
  }
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (lengths[turn % lengths.length] ?? 1)
    add(cutter.take(bytes.subarray(at, end)))
    at = end
  }
  add(cutter.end())
  return { drafts, lines, fault: cutter.fault() }
}

const lengthsOf = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

suite('a body', () => {
  test('that is an array is cut where JSON says, whatever pieces it comes in', () => {
    const values = fc.array(
      fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.constant({ '],"\\': '[{,' })),
    )
    fc.assert(
      fc.property(values, lengthsOf, fc.constantFrom(0, 2), (drafts, lengths, indent) => {
        const text = JSON.stringify(drafts, null, indent)
        const found = cut(openArrayCutter(), Buffer.from(` ${text}\n`), lengths)
        assert.equal(found.fault, null)
        assert.deepEqual(
          found.drafts.map((one) => JSON.parse(one ?? '')),
          JSON.parse(text),
        )
      }),
    )
  })

  test('is no array when JSON says so, whatever its drafts are', () => {
    const pieces = fc.constantFrom('{"a":"]"}', '{}', '[', ']', '{', '}', ',', ' ', '"', '\\', '1')
    let arrays = 0
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), lengthsOf, (parts, lengths) => {
        const text = parts.join('')
        const { drafts, fault } = cut(openArrayCutter(), Buffer.from(text), lengths)
        const isArray = fault === null && drafts.every((one) => one !== null && isJsonObject(one))
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
    fc.assert(
      fc.property(lengthsOf, (lengths) => {
        const { drafts, lines } = cut(openLineCutter(), Buffer.from(text), lengths)
        assert.deepEqual(drafts, ['{"a":1}\r', '{"b":2}', '\ufeff', '{"c":3}'])
        assert.deepEqual(lines, [1, 4, 5, 6])
      }),
    )
  })

  test('keeps no draft that is longer than one may be', () => {
    const long = `{"ref":"${'a'.repeat(DRAFT_LINE_BYTES_MAX)}"}`
    const short = JSON.stringify(draft('b'))
    assert.deepEqual(cut(openArrayCutter(), Buffer.from(`[${long},${short}]`), [9_999]).drafts, [null, short])
    assert.deepEqual(cut(openLineCutter(), Buffer.from(`${long}\n${short}`), [9_999]).drafts, [null, short])
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
    const parser = openBodyParser(false, 'opaque')
    await parser.take(Buffer.from(JSON.stringify(drafts)))
    const body = await parser.end()
    isDone = true
    assert.ok(body.ok)
    assert.equal(body.drafts.length, DRAFTS)
    assert.ok(turns >= DRAFTS / 50 - 1, `${turns} turns`)
  })

  test('are counted while they come, so that too many are refused whatever follows', async () => {
    const parser = openBodyParser(false, 'opaque')
    await parser.take(Buffer.from('['))
    for (let taken = 0; taken <= DRAFTS_MAX; taken += 1_000)
      await parser.take(Buffer.from('{},'.repeat(1_000)))
    await parser.take(Buffer.from('no JSON'))
    const body = await parser.end()
    assert.equal(body.ok ? null : body.code, 'too-large')
  })

  test(`are refused with each bad one, ${FAULTS_MAX} at most`, async () => {
    const parser = openBodyParser(true, 'opaque')
    const bad = Array.from({ length: FAULTS_MAX + 5 }, (_, number) => `{"ref":"bad-${number}"}`)
    await parser.take(Buffer.from([JSON.stringify(draft('good')), '', ...bad].join('\n')))
    const body = await parser.end()
    assert.ok(!body.ok)
    assert.deepEqual(
      body.faults?.map(({ index, line, ref, field }) => [index, line, ref, field]),
      Array.from({ length: FAULTS_MAX }, (_, number) => [number + 1, number + 3, `bad-${number}`, 'type']),
    )
  })
})
