import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../test/stage/audit-stage.ts'
import {
  ALL,
  key,
  size,
  one,
  two,
  AT,
  otherTail,
  noteAt,
  witnessedAs,
  questions,
  auditWith,
} from '../../test/tamper/witness-stage.ts'
import { checkpointOver, newKey, publicLog } from '../../test/story/public-log.ts'
import { cosigned } from '../../test/story/witness-keys.ts'
import { isVerified } from './report.ts'
import type { WitnessAnswer } from './ask-witnesses.ts'

suite('a witness that is asked itself', () => {
  const note = cosigned(noteAt(size), AT, ...ALL)

  test('at the address of the log, confirms the log', async () => {
    const addresses: string[] = []
    const found = await auditWith(note, { answers: { one: cosigned(noteAt(size - 1), AT, one) }, addresses })
    assert.deepEqual([findingLines(found), found.notes], [[], []])
    // printf daybook.example/log | sha256sum
    assert.deepEqual(addresses, [
      'http://one/8ab4652f6825c23ccd8ea0a1d728d54cf3b4051211a781dec66aa25f299253bf/checkpoint',
    ])
  })

  test('and shows another history finds a SPLIT VIEW with evidence', async () => {
    for (const at of [size - 1, size]) {
      const found = await auditWith(note, { answers: { two: cosigned(noteAt(at, otherTail), AT, two) } })
      assert.deepEqual(findingLines(found), [
        `witnesses | witness.example/two: SPLIT VIEW: this witness was shown other events than the first ${at} here`,
      ])
      assert.equal(found.evidence.length, 1)
      assert.ok(!isVerified(found))
    }
  })

  test('and shows more events than the log finds a rollback or a split view', async () => {
    const shorter = publicLog(RICH_LOG.slice(0, -1), key)
    const witnesses = questions({ answers: { two: cosigned(noteAt(size, otherTail), AT, two) } })
    const own = cosigned(noteAt(size - 2), AT, ...ALL)
    const found = await auditOf(shorter, witnessedAs(own), { witnesses })
    assert.match(
      findingLines(found).join('\n'),
      /^witnesses \| witness\.example\/two: ROLLBACK or SPLIT VIEW: this witness was shown \d+ events, and the log has \d+ here$/m,
    )
  })

  test('and has only one of the two signatures is compared all the same', async () => {
    const unsigned = cosigned(checkpointOver(otherTail, size, newKey()), AT, two)
    const byWitness = await auditWith(note, { answers: { two: unsigned } })
    // An honest log must not be accused on the word of one witness.
    assert.deepEqual(findingLines(byWitness), [
      `witnesses | witness.example/two: SPLIT VIEW or a false witness: it has cosigned other events than the first ${size} here, and no known key of the log has signed them`,
    ])
    assert.deepEqual(byWitness.evidence, [], 'it proves nothing about the key of the log')
    const byLog = await auditWith(note, { answers: { two: noteAt(size, otherTail) } })
    assert.match(findingLines(byLog).join(), /SPLIT VIEW/)
    assert.equal(byLog.evidence.length, 1)
  })

  test('and does not answer, or answers with something else, is a note and no fault', async () => {
    const other = newKey('other.example/log')
    const answers: readonly (readonly [WitnessAnswer | string, string])[] = [
      [{ is: 'silent', why: 'status 503' }, 'does not answer: status 503'],
      [{ is: 'none' }, 'has cosigned no checkpoint of this log'],
      ['no note', 'answers with something else: the note is not well formed'],
      [cosigned(checkpointOver(RICH_LOG, size, other), AT, one), 'answers with a checkpoint of another log'],
      [
        checkpointOver(otherTail, size, newKey()),
        'answers with a checkpoint that neither the log nor it has signed',
      ],
      [noteAt(size), 'answers with a checkpoint that it has not cosigned'],
      [
        cosigned(checkpointOver(RICH_LOG, size, newKey()), AT, one),
        'answers with a checkpoint that no known key of the log has signed',
      ],
    ]
    for (const [answer, says] of answers) {
      const found = await auditWith(note, { answers: { one: answer } })
      assert.deepEqual(found.notes, [`witness witness.example/one ${says}`])
      assert.deepEqual(findingLines(found), [])
      assert.ok(isVerified(found))
    }
  })
})
