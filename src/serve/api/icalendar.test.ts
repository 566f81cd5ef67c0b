import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import ical from 'ical-generator'
import { msOf } from '../../protocol/moment.ts'
import { openCalendar } from './icalendar.ts'

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 })

suite('a calendar', () => {
  test('has the same lines as the library writes, for any text', () => {
    fc.assert(
      fc.property(
        words,
        fc.array(fc.tuple(words, words, fc.nat(), fc.nat()), { maxLength: 4 }),
        (name, entries) => {
          const moments = entries.map(([summary, description, atMs, sequence], index) => {
            return {
              id: `entry-${index}`,
              atMs,
              sequence,
              changedMs: msOf(sequence),
              summary,
              description,
              url: 'https://a.example/contests/1/ledger',
            }
          })
          const format = openCalendar()
          const told = {
            name,
            description: name,
            product: 'Schedule',
            origin: 'a.example/log',
            moments,
          }
          const prodId = { company: 'Daybook', product: 'Schedule', language: 'EN' }
          const library = ical({ name, description: name, prodId, ttl: 3_600 })
          for (const { id, atMs, changedMs, ...said } of moments) {
            library.createEvent({
              id: `${id}@a.example/log`,
              stamp: new Date(changedMs),
              start: new Date(atMs),
              ...said,
            })
          }
          assert.equal(format(told), `${library.toString().trimEnd()}\r\n`)
        },
      ),
    )
  })
})
