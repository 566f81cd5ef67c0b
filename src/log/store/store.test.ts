import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openMemoryLog } from '../../../test/story/memory-log.ts'
import { recompute, type Recomputed } from '../../publish/recompute.ts'
import { formatEvent } from '../../protocol/event.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import { assertSameBooks, assertSameListings, momentsOf } from '../../../test/story/same-books.ts'
import { openDirectory, reading, write, writerSteps } from '../../../test/story/store-run.ts'
import { storePath } from './store.ts'

/** Runs of the property. Set it higher for a longer test. */
const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 8)

/** Recomputes a store. The test's own end removes the directory. */
function recomputed(directory: string): Recomputed {
  const steps = recompute(storePath(directory), join(directory, 'scratch.db'))
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

suite('the store', () => {
  for (const mode of ['durable', 'bulk'] as const) {
    test(`gives the books of the log in memory after each commit, however it was written (${mode})`, () => {
      fc.assert(
        fc.property(randomLogs, writerSteps, (entries, steps) => {
          using directory = openDirectory()
          const memory = openMemoryLog()
          for (const done of write(directory.path, entries, steps, mode)) {
            for (const entry of entries.slice(memory.entries().length, done)) memory.add(entry)
            const books = memory.books()
            reading(directory.path, (reader) =>
              reader.snapshot((seen) => assertSameListings(seen.books, books, memory.entries())),
            )
          }
          reading(directory.path, (reader) =>
            reader.snapshot((seen) => {
              assertSameBooks(seen.books, memory.books(), entries)
              for (const ms of momentsOf(entries)) {
                const before = entries.filter(({ event }) => event.atMs < ms).length
                assert.equal(seen.seqBefore(ms), before)
              }
              for (const { event } of entries) {
                assert.equal(Buffer.from(seen.line(event.seq) ?? []).toString(), formatEvent(event))
              }
            }),
          )
          const { events, differences } = recomputed(directory.path)
          assert.deepEqual({ events, differences }, { events: entries.length, differences: [] })
        }),
        { numRuns: RUNS },
      )
    })
  }
})
