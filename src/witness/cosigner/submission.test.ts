import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { sampleLog, submissionOf } from '../../../test/witness/sample-log.ts'
import { parseSubmission, PROOF_LINES_MAX, SUBMISSION_BYTES_MAX } from './submission.ts'

const log = sampleLog('log.example/a')
const HASH = `${Buffer.alloc(32, 7).toString('base64')}\n`
const reasonOf = (body: string | Buffer): string | null => {
  const parsed = parseSubmission(Buffer.from(body))
  return parsed.ok ? null : parsed.reason
}

suite('a submission', () => {
  test('is parsed to old size, proof and checkpoint', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.nat(PROOF_LINES_MAX),
        fc.integer({ min: 0, max: 40 }),
        (old, lines, size) => {
          const parsed = parseSubmission(submissionOf(old, HASH.repeat(lines), log.note(size)))
          assert.ok(parsed.ok)
          const { oldSize, proof, checkpoint } = parsed.submission
          assert.deepEqual([oldSize, proof.length, checkpoint.size], [old, lines, size])
          assert.deepEqual(Buffer.from(checkpoint.root), Buffer.from(log.root(size)))
        },
      ),
      { numRuns: 50 },
    )
  })

  test('has each signature line once, so that nobody makes a witness verify one line 64 times', () => {
    const [line = ''] = /^— .*\n$/m.exec(log.note(5)) ?? []
    const parsed = parseSubmission(submissionOf(0, '', `${log.note(5)}${line.repeat(63)}`))
    assert.ok(parsed.ok)
    assert.equal(parsed.submission.note.signatures.length, 1)
  })

  test('has only one accepted form of what comes before the note', () => {
    const head = `old 12\n${HASH.repeat(2)}\n`
    const places = fc.tuple(fc.nat(head.length - 1), fc.nat(255), fc.constantFrom('alter', 'drop', 'add'))
    fc.assert(
      fc.property(places, ([at, byte, how]) => {
        const bytes = Buffer.from(head)
        const changed = Buffer.concat([
          bytes.subarray(0, at),
          how === 'drop' ? Buffer.alloc(0) : Buffer.from([byte]),
          bytes.subarray(how === 'add' ? at : at + 1),
        ])
        const parsed = parseSubmission(Buffer.concat([changed, Buffer.from(log.note(20))]))
        if (!parsed.ok) return
        const { oldSize, proof } = parsed.submission
        const lines = proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('')
        assert.equal(changed.toString('latin1'), `old ${oldSize}\n${lines}\n`)
      }),
      { numRuns: 2_000 },
    )
  })

  test('never makes the parser throw, and no reason repeats a part of it', () => {
    const words = fc.constantFrom('old ', '0\n', '\n', HASH, log.note(3), '— ', 'secret', '\u0000', '12')
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
        assert.doesNotMatch(reasonOf(parts.join('')) ?? '', /secret/)
      }),
      { numRuns: 500 },
    )
  })

  const MALFORMED: readonly (readonly [why: RegExp, body: string])[] = [
    [/no empty line/, ''],
    [/no empty line/, 'old 0\n'],
    [/first line/, `\n${log.note(1)}`],
    [/first line/, `old  0\n\n${log.note(1)}`],
    [/first line/, `old -1\n\n${log.note(1)}`],
    [/first line/, `old 0\r\n\n${log.note(1)}`],
    [/first line/, `Old 0\n\n${log.note(1)}`],
    [/old size/, `old 00\n\n${log.note(1)}`],
    [/old size/, `old 01\n\n${log.note(1)}`],
    [/old size/, `old 9007199254740992\n\n${log.note(1)}`],
    [/line 2 of the proof/, `old 1\n${HASH}AAAA\n\n${log.note(2)}`],
    [/line 1 of the proof/, `old 1\n${HASH.replace('=', '')}\n${log.note(2)}`],
    [/line 1 of the proof/, `old 1\n ${HASH}\n${log.note(2)}`],
    [/at most 63 lines/, `old 1\n${HASH.repeat(64)}\n${log.note(2)}`],
    [/note is not well formed/, 'old 0\n\n'],
    [/note is not well formed/, `old 0\n\n${log.note(1).split('\n\n')[0] ?? ''}\n`],
    [/checkpoint is not well formed/, `old 0\n\n${log.note(1).replace('\n1\n', '\n01\n')}`],
  ]
  test('is refused with words for what is wrong', () => {
    for (const [why, body] of MALFORMED) assert.match(reasonOf(body) ?? 'none', why, JSON.stringify(body))
  })

  test(`has ${SUBMISSION_BYTES_MAX} bytes at most`, () => {
    const whole = submissionOf(0, '', log.note(1, ['x'.repeat(SUBMISSION_BYTES_MAX)]))
    assert.match(reasonOf(whole) ?? '', /131072 bytes/)
    const room = SUBMISSION_BYTES_MAX - submissionOf(0, '', log.note(1, ['x'])).length
    assert.equal(reasonOf(submissionOf(0, '', log.note(1, ['x'.repeat(room + 1)]))), null)
  })
})
