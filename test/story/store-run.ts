import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import * as fc from 'fast-check'
import { type Appender, openAppender } from '../../src/log/append.ts'
import { openReader } from '../../src/log/open-reader.ts'
import type { LogReader } from '../../src/log/store/reader.ts'
import { createStore, finishBulk, openForBulk, openForWriting, storePath } from '../../src/log/store/store.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import type { Entry } from '../../src/protocol/event.ts'
import { billionths } from '../../src/protocol/amount.ts'
import { DAY_MS, msOf } from '../../src/protocol/moment.ts'
import { contestIdOf } from '../../src/protocol/seq.ts'
import { testSigner } from './signing.ts'

/**
 * One step of a writer. First it appends `noise` entries, of which it keeps `keptNoise`, and undoes them. Then it
 * appends, keeps and commits a batch in pieces, and drops pieces in between.
 */
type WriterStep = Readonly<{
  noise: number
  keptNoise: number
  undo: 'drop' | 'rollback'
  pieces: readonly Readonly<{ events: number; droppedBefore: number }>[]
  /** Days by which dropped events are ahead of the kept ones, so that they end weeks and months. */
  aheadDays: number
  reopens: boolean
}>

export const writerSteps: fc.Arbitrary<readonly WriterStep[]> = fc.array(
  fc.record({
    noise: fc.nat(6),
    keptNoise: fc.nat(6),
    undo: fc.constantFrom('drop', 'rollback'),
    pieces: fc.array(fc.record({ events: fc.integer({ min: 1, max: 12 }), droppedBefore: fc.nat(4) }), {
      minLength: 1,
      maxLength: 3,
    }),
    aheadDays: fc.constantFrom(0, 0, 1, 8, 40),
    reopens: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)

/** A temporary directory for a store, removed on disposal. */
export function openDirectory(): Disposable & Readonly<{ path: string }> {
  const path = mkdtempSync(join(tmpdir(), 'daybook-store-'))
  createStore(storePath(path), { origin: 'daybook.test/store', chain: 'opaque', simulated: false })
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

/** Writes the entries by repeating the steps. Yields how many are published after each commit. */
export function* write(
  directory: string,
  entries: readonly Entry[],
  steps: readonly WriterStep[],
  mode: 'durable' | 'bulk',
): Generator<number, void> {
  const path = storePath(directory)
  const open = (): DatabaseSync => (mode === 'bulk' ? openForBulk(path) : openForWriting(path))
  let db = open()
  let appender = openAppender(db, testSigner(db))
  let done = 0
  try {
    for (let turn = 0; done < entries.length; turn++) {
      const step = steps[turn % steps.length]
      if (step === undefined) return
      // A bulk import has no journal, so it cannot roll back.
      const undo = mode === 'bulk' ? 'drop' : step.undo
      if (undo === 'rollback') rollBack(appender, entries.slice(done), step)
      done = commit(appender, entries, done, step)
      if (step.reopens || mode === 'bulk') {
        if (mode === 'bulk') finishBulk(db)
        db.close()
        yield done
        db = open()
        appender = openAppender(db, testSigner(db))
      } else {
        yield done
      }
    }
  } finally {
    if (mode === 'bulk') finishBulk(db)
    db.close()
  }
}

function rollBack(appender: Appender, coming: readonly Entry[], step: WriterStep): void {
  appender.begin()
  append(appender, coming.slice(0, step.keptNoise), 0)
  appendStray(appender, step)
  appender.write()
  append(appender, [], 0)
  for (let stray = 0; stray < step.noise; stray++) appendStray(appender, step)
  appender.rollback()
}

function commit(appender: Appender, entries: readonly Entry[], from: number, step: WriterStep): number {
  let done = from
  appender.begin()
  for (const { events, droppedBefore } of step.pieces) {
    if (droppedBefore > 0) {
      append(appender, entries.slice(done, done + droppedBefore), step.aheadDays)
      appendStray(appender, step)
      appender.forget()
    }
    append(appender, entries.slice(done, done + events), 0)
    appender.write()
    done = Math.min(done + events, entries.length)
  }
  append(appender, entries.slice(done, done + step.noise), step.aheadDays)
  appender.forget()
  appender.commit()
  return done
}

function append(appender: Appender, entries: readonly Entry[], aheadDays: number): void {
  for (const entry of entries) {
    const ref = `ref-${entry.event.seq}`
    const named = entry.event.seq % 3 === 0 ? null : { ref, digest: Buffer.from(ref) }
    appender.append(draftOf(entry), named, msOf(entry.event.atMs + aheadDays * DAY_MS))
  }
}

/** Appends a play of a new kind. When it is undone it must leave no code and no sum. */
function appendStray(appender: Appender, step: WriterStep): void {
  const { seq, atMs } = appender.head()
  const blank = { ref: null, atMs: null, tx: null, details: null }
  const kind = `stray_${seq % 5}`
  const stray: Draft = { ...blank, type: 'trade', kind, contestId: null, kots: billionths(1n) }
  appender.append(
    stray,
    { ref: `stray-${seq}`, digest: new Uint8Array(1) },
    msOf((atMs ?? 0) + step.aheadDays * DAY_MS),
  )
  const contestId = contestIdOf(1)
  if (appender.fold().repository.contest(contestId) === undefined) return
  appender.append({ ...stray, type: 'play', contestId }, null, msOf(atMs ?? 0))
}

/** The draft that an entry was published from. */
export function draftOf({ event, details }: Entry): Draft {
  const { type, kind, contestId, kots, tx } = event
  return { ref: null, atMs: null, type, kind, contestId, kots, tx, details }
}

/** Runs `ask` with a reader of a store. */
export function reading<T>(directory: string, ask: (reader: LogReader) => T): T {
  const reader = openReader(directory, null)
  try {
    return ask(reader)
  } finally {
    reader.close()
  }
}
