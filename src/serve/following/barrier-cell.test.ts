import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { seqOf } from '../../protocol/seq.ts'
import { openBarrierCell } from './barrier-cell.ts'

suite('a question for the head of the whole log', () => {
  test('is answered by an answer that began after it, never by an older one', async () => {
    const answers = openBarrierCell()
    const asking = openBarrierCell(answers.buffer)
    const first = asking.ask(5_000)
    const begun = answers.begin()
    assert.ok(begun !== undefined)
    const second = asking.ask(5_000)
    answers.answer(begun, seqOf(7))
    assert.equal(await first, 7)
    const next = answers.begin()
    assert.ok(next !== undefined)
    answers.answer(next, seqOf(9))
    assert.equal(await second, 9)
    assert.equal(answers.begin(), undefined, 'no question is open')
  })

  test('has no answer when the head cannot be known, or none comes in time', async () => {
    const cell = openBarrierCell()
    const asked = cell.ask(5_000)
    await cell.asked()
    cell.answer(cell.begin() ?? 0n, null)
    assert.equal(await asked, null)
    assert.equal(await cell.ask(10), null)
  })

  test('wakes the thread that answers', async () => {
    const cell = openBarrierCell()
    const woken = cell.asked()
    const asked = cell.ask(5_000)
    await woken
    cell.answer(cell.begin() ?? 0n, seqOf(0))
    assert.equal(await asked, 0)
  })
})
