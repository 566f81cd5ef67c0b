import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { logOf, time } from '../../../test/story/story.ts'
import type { Ms } from '../../protocol/moment.ts'
import { momentProblem } from './summary.ts'
import { prepareAnswer } from '../../../test/story/memory-log.ts'

const books = logOf([
  { at: '2026-10-01', is: 'treasury/deposit', kots: '1000' },
  { at: '2026-10-05', is: 'burn/platform_income', kots: '20' },
]).books()
const now = time('2026-10-06')

suite('the summary', () => {
  test('is refused only for a moment after both the present and the head', () => {
    const problem = momentProblem((now + 1) as Ms, now, books.head)
    assert.equal(problem?.code, 'in-the-future')
    const detail = /^The newest event is of 2026-10-\d\d \d\d:\d\d UTC\. Choose an earlier moment\.$/
    assert.match(problem.detail, detail)
    assert.equal(momentProblem(now, now, books.head), undefined)
    assert.equal(momentProblem(time('2026-10-05'), time('2026-10-04'), books.head), undefined)
  })

  test('never changes for a moment before the head', () => {
    const freshness = (query: string, of = books): string | undefined => {
      const prepared = prepareAnswer(of, 'summary', { query })
      return prepared.ok ? prepared.value.freshness : undefined
    }
    assert.equal(freshness('at=2026-10-04T23:59:59.999Z'), 'settled')
    assert.equal(freshness('at=2026-10-05'), 'log')
    assert.equal(freshness(''), 'log')
    assert.equal(freshness('at=2026-10-04', logOf([]).books()), 'log')
  })
})
