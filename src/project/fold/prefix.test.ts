import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { time } from '../../../test/story/story.ts'
import { beginsChunk } from './prefix.ts'

suite('an event begins a chunk', () => {
  const table: readonly (readonly [when: string, last: string | null, events: number, begins: boolean])[] = [
    ['as the first of the log', null, 0, true],
    ['as the first of its minute', '2026-10-03T11:21:59.999Z', 1, true],
    ['after 256 events of its minute', '2026-10-03T11:22Z', 256, true],
    ['not after fewer', '2026-10-03T11:22Z', 255, false],
    ['not after another of its minute', '2026-10-03T11:22:59.999Z', 1, false],
  ]
  for (const [when, last, events, begins] of table) {
    test(when, () => {
      const lastAt = last === null ? null : time(last)
      assert.equal(beginsChunk(lastAt, events, time('2026-10-03T11:22:59.999Z')), begins)
    })
  }
})
