import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { parseNote } from '../../src/tlog/note.ts'
import { type SampleLog, sampleLog, submissionOf } from './sample-log.ts'
import { openCosignerStage, shownNote, timesOn } from './cosigner-stage.ts'

/** Two clients show two histories of one log. */
const HISTORIES: readonly [SampleLog, SampleLog] = [
  sampleLog('log.example/a'),
  sampleLog('log.example/a', 100),
]
const SIZES = 12

/** A request, or what happens between requests. `oldSize` is null for the size that the witness has. */
type Step =
  | Readonly<{ is: 'ask'; by: 0 | 1; oldSize: number | null; size: number; proofOf: 0 | 1 | null }>
  | Readonly<{ is: 'wait'; seconds: number }>
  | Readonly<{ is: 'restart' }>

const client = fc.constantFrom<0 | 1>(0, 1)
const size = fc.nat(SIZES)
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      is: fc.constant('ask' as const),
      by: fc.oneof({ weight: 4, arbitrary: fc.constant(0 as const) }, { weight: 1, arbitrary: client }),
      oldSize: fc.option(size, { freq: 4 }),
      size,
      proofOf: fc.option(client, { freq: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant('wait' as const), seconds: fc.integer({ min: -30, max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('restart' as const) }) },
)

/** The tree that the witness has cosigned, by the rules of tlog-witness and nothing else. */
type Model = { by: 0 | 1; size: number }

function statusOf(model: Model, step: Extract<Step, { is: 'ask' }>): number {
  const oldSize = step.oldSize ?? model.size
  if (oldSize > step.size) return 400
  if (oldSize !== model.size) return 409
  // The empty tree is the beginning of each history. A proof from it has no line.
  if (oldSize === 0) return 200
  if (step.by !== model.by) return 422
  if (oldSize === step.size) return 200
  return step.proofOf === step.by ? 200 : 422
}

async function play(given: readonly Step[]): Promise<void> {
  using stage = openCosignerStage([HISTORIES[0]], { growthPerMinute: 6_000 })
  const model: Model = { by: 0, size: 0 }
  const roots = new Map<number, string>()
  let cosigned = 0
  let time = Number.NEGATIVE_INFINITY
  for (const step of given) {
    if (step.is === 'wait') stage.wait(step.seconds)
    if (step.is === 'restart') stage.reopen()
    if (step.is !== 'ask') continue
    const oldSize = step.oldSize ?? model.size
    const proof =
      step.proofOf === null || oldSize > step.size ? '' : HISTORIES[step.proofOf].proof(oldSize, step.size)
    const note = HISTORIES[step.by].note(step.size)
    const [status, text] = await stage.add(submissionOf(oldSize, proof, note))
    const expected = statusOf(model, step)
    // Only the clock may keep the witness from what the model would cosign.
    if (expected === 200 && status === 503) {
      assert.equal(stage.facts.at(-1)?.is, 'clock', text)
      continue
    }
    assert.equal(status, expected, text)
    if (status === 409) assert.equal(text, `${model.size}\n`)
    if (status !== 200) continue
    const times = await timesOn(`${note}${text}`, stage.cosigner().verifiers)
    assert.equal(times.length, 2, 'both cosignatures hold')
    for (const each of times) {
      assert.ok(each >= time, 'no cosignature is earlier than the one before')
      time = each
    }
    assert.ok(step.size >= cosigned, 'no cosigned tree is smaller than the one before')
    cosigned = step.size
    const root = Buffer.from(HISTORIES[step.by].root(step.size)).toString('hex')
    assert.equal(roots.get(step.size) ?? root, root, 'one size has one root')
    roots.set(step.size, root)
    Object.assign(model, { by: step.by, size: step.size })
    const shown = shownNote(stage, HISTORIES[0])
    assert.ok(parseNote(Buffer.from(shown)).ok)
    assert.ok(shown.startsWith(note) && shown.endsWith(text))
  }
}

suite('a witness that two clients ask at random', () => {
  test('cosigns what the rules of tlog-witness allow and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), (given) => play(given)),
      { numRuns: 40 },
    )
  })

  test('cosigns one of several trees that come at once', async () => {
    using stage = openCosignerStage([HISTORIES[0]])
    const bodies = Array.from({ length: 10 }, (_, index) => {
      const of = HISTORIES[index % 2 === 0 ? 0 : 1]
      return of.submission(0, 1 + index)
    })
    const statuses = (await Promise.all(bodies.map((body) => stage.add(body)))).map(([status]) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.equal(statuses.filter((status) => status === 409).length, 9)
  })
})
