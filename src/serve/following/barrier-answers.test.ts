import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { seqOf } from '../../protocol/seq.ts'
import { openBarrierCell } from './barrier-cell.ts'
import { answerBarriers } from './barrier-answers.ts'

suite('readers whose cursor is ahead', () => {
  test('make a node ask its engine ten times a second at most, and all get an answer', async () => {
    const cell = openBarrierCell()
    let asked = 0
    using _answers = answerBarriers(cell.buffer, {
      async barrier() {
        asked += 1
        return seqOf(asked)
      },
    })
    const beganMs = performance.now()
    for (let question = 1; question <= 4; question += 1) {
      const heads = await Promise.all([cell.ask(5_000), cell.ask(5_000), cell.ask(5_000)])
      assert.ok(heads.every((head) => head !== null && head <= asked))
    }
    const seconds = (performance.now() - beganMs) / 1_000
    assert.ok(asked <= 1 + seconds * 10 + 1, `${asked} questions in ${seconds} s`)
  })
})
