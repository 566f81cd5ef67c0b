import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAppender } from '../../src/log/append.ts'
import { openReader } from '../../src/log/open-reader.ts'
import type { LogReader, Witnessed } from '../../src/log/store/reader.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import { MINUTE_MS, msOf } from '../../src/protocol/moment.ts'
import type { FeedPace } from '../../src/witness/feed/feed-settings.ts'
import { feedWitnesses } from '../../src/witness/feed/feeder.ts'
import { until } from '../processes/other-program.ts'
import { every, publish } from '../stage/archive-node.ts'
import { testSigner } from '../story/signing.ts'
import type { VerifierKey } from '../../src/tlog/note.ts'

export const FED_ORIGIN = 'daybook.example/fed'
const PACE: FeedPace = { roundMs: 10, idleMs: 60_000 }

/** A log with a feeder. */
export type FeedStage = Disposable &
  Readonly<{
    directory: string
    reader: LogReader
    /** Reports of the feeder: `w1 100`, `w1 disagrees`, `quorum 100`. */
    reports: string[]
    grow(events: number): void
    /** Runs the feeder until the function returns. */
    feeding<T>(
      chosen: Readonly<{
        witnesses: readonly Readonly<{ key: VerifierKey; url: string }>[]
        quorum: number
        pace?: Partial<FeedPace>
      }>,
      run: () => Promise<T>,
    ): Promise<T>
    witnessed(): Witnessed | null
    /** Waits until the feeder has reported this. */
    reported(what: string): Promise<void>
  }>

export function openFeedStage(events: number): FeedStage {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-feed-'))
  createStore(storePath(directory), { origin: FED_ORIGIN, chain: 'opaque', simulated: false })
  const db = openForWriting(storePath(directory))
  const appender = openAppender(db, testSigner(db))
  const reader = openReader(directory, null)
  const reports: string[] = []
  let at = Date.UTC(2026, 7, 30)
  const grow = (count: number): void => {
    publish(appender, every(MINUTE_MS, count, at))
    at += count * MINUTE_MS
    reader.snapshot(() => undefined)
  }
  grow(events)
  const shortName = (name: string): string => name.split('/').at(-1) ?? ''
  return {
    directory,
    reader,
    reports,
    grow,
    async feeding({ witnesses, quorum, pace }, run) {
      const stop = new AbortController()
      const listener = {
        onCosigned: (name: string, seq: number) => void reports.push(`${shortName(name)} ${seq}`),
        onRefused: (name: string, reason: string) => void reports.push(`${shortName(name)} ${reason}`),
        onWitnessed: (seq: number) => void reports.push(`quorum ${seq}`),
        onFault: (error: unknown) => void reports.push(`fault ${String(error)}`),
      }
      const around = { now: () => msOf(Date.now()), monotonicMs: () => performance.now() }
      const parts = { dataDirectory: directory, reader, choice: { witnesses, quorum }, around, listener }
      const fed = feedWitnesses({ ...parts, pace: { ...PACE, ...pace } }, stop.signal)
      try {
        return await run()
      } finally {
        stop.abort()
        await fed
      }
    },
    witnessed: () => reader.snapshot((snapshot) => snapshot.witnessed()),
    reported: (what) => until(`the feeder reports ${what}`, () => Promise.resolve(reports.includes(what))),
    [Symbol.dispose]() {
      reader.close()
      db.close()
      rmSync(directory, { recursive: true })
    },
  }
}
