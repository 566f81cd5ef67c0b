import { openRequestIds } from '../../src/serve/http/problem-document.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { type Appender, openAppender } from '../../src/log/append.ts'
import { openReader } from '../../src/log/open-reader.ts'
import type { LogReader } from '../../src/log/store/reader.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import { billionths, parseDraftPrice } from '../../src/protocol/amount.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'
import type { RequestPathParts } from '../../src/serve/request/request-path.ts'
import { openMetrics } from '../../src/serve/metrics/metrics.ts'
import { openRouter } from '../../src/serve/http/router.ts'
import { openAnswerCache } from '../../src/serve/request/answer-cache.ts'
import { start } from '../../src/serve/server.ts'
import {
  allocateCallerSlots,
  type CallerSlotLimits,
  type CallerSlots,
  openCallerSlots,
} from '../../src/serve/allowance/caller-slots.ts'
import type { StreamLimits } from '../../src/serve/stream/limits.ts'
import { openStreams, type Streams, type StreamSettings } from '../../src/serve/stream/streams.ts'
import { testSigner } from '../story/signing.ts'
import { openHeadCell } from '../../src/log/head-cell.ts'

/** A log with its writer in this thread, and a public listener with its stream. */
export type Stage = AsyncDisposable &
  Readonly<{
    port: number
    reader: LogReader
    streams: Streams
    /** Appends `count` events in one commit. Their kinds depend on their seqs (`draftOf`). */
    publish(count: number): void
    /** Appends without a signal to this thread's reader, like a commit that it has not seen. */
    publishElsewhere(count: number): void
    /** Exact line of an event. */
    line(seq: number): string
    head(): number
    /** Number of slots in use. */
    slotsTaken(): number
    /** Reported errors, in order. */
    reported: unknown[]
    /** Number of requests whose caller was looked up. */
    requests(): number
  }>

type StageSettings = Readonly<{
  /** Events that are published before the listener starts. Stages with the same number share the work. */
  events?: number
  limits?: Partial<StreamLimits>
  slotsPerCaller?: number
  slotsPerNode?: number
  random?: () => number
  /** The wall clock, in milliseconds after the launch; 0 by default. */
  nowMs?: number
  /** Receives the delivery lag of each fan-out, in milliseconds. */
  onDelivered?: (ms: number) => void
  /** Wraps the reader of the streams. */
  reader?: (reader: LogReader) => LogReader
}>

const LAUNCH_MS = Date.UTC(2026, 9, 1)

/** Event `seq` of the stage. Of each ten, one is a price, one a contest's plan, four are buys and four are sales. */
export function draftOf(seq: number): Draft {
  const blank = { ref: null, atMs: null, contestId: null, kots: null, tx: null, details: null }
  if (seq % 10 === 0) {
    const price = parseDraftPrice('0.25')
    assert.ok(price !== undefined)
    return { ...blank, type: 'price', kind: 'usd', details: { price } }
  }
  if (seq % 10 === 1) {
    const details = { opensAt: msOf(LAUNCH_MS + 1000), closesAt: msOf(LAUNCH_MS + 2000) }
    return { ...blank, type: 'contest', kind: 'scheduled', contestId: contestIdOf(seq), details }
  }
  return { ...blank, type: 'trade', kind: seq % 2 === 0 ? 'buy' : 'sell', kots: billionths(BigInt(seq)) }
}

/** Stores of this process, by their number of events. */
const stores = new Map<number, Uint8Array>()

/** A store with events, as the bytes of its file. */
function storeOf(events: number): Uint8Array {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-stream-'))
  const path = storePath(directory)
  createStore(path, { origin: 'daybook.test/stream', chain: 'opaque', simulated: false })
  const db = openForWriting(path)
  append(openAppender(db, testSigner(db)), events)
  db.close()
  const bytes = readFileSync(path)
  rmSync(directory, { recursive: true })
  return bytes
}

function append(appender: Appender, count: number): void {
  appender.begin()
  const first = appender.head().seq + 1
  for (let seq = first; seq < first + count; seq += 1) {
    appender.append(draftOf(seq), null, msOf(LAUNCH_MS + seq))
  }
  appender.write()
  appender.commit()
}

export async function openStage(settings: StageSettings = {}): Promise<Stage> {
  const { events = 0 } = settings
  const directory = mkdtempSync(join(tmpdir(), 'daybook-stream-'))
  const bytes = stores.get(events) ?? storeOf(events)
  stores.set(events, bytes)
  writeFileSync(storePath(directory), bytes)
  const db = openForWriting(storePath(directory))
  const appender = openAppender(db, testSigner(db))
  const cell = openHeadCell()
  cell.move(appender.head().seq)
  const reader = openReader(directory, cell)
  const slots = countSlots({
    perCaller: settings.slotsPerCaller ?? 1_000,
    perNode: settings.slotsPerNode ?? 1_000,
  })
  const reported: unknown[] = []
  const callers: string[] = []
  const streamSettings: StreamSettings = {
    reader: settings.reader?.(reader) ?? reader,
    slots,
    now: () => msOf(LAUNCH_MS + (settings.nowMs ?? 0)),
    monotonicMs: () => performance.now(),
    random: settings.random ?? (() => 0.5),
    report: (error) => reported.push(error),
    onDelivered: settings.onDelivered ?? (() => undefined),
    ended: () => undefined,
    limits: { drainMs: 0, tickMs: 10, ...settings.limits },
  }
  const streams = openStreams(streamSettings)
  const server = await start(
    {
      host: '127.0.0.1',
      port: 0,
      reusePort: false,
      keepAliveMs: 5_000,
      connectionsMax: 12_000,
      drainMs: 1_000,
      connections: null,
    },
    collaborators(reader, streams, reported, callers),
  )

  return {
    port: server.port,
    reader,
    streams,
    publish(count) {
      append(appender, count)
      cell.move(appender.head().seq)
      reader.head()
    },
    publishElsewhere: (count) => append(appender, count),
    line(seq) {
      const line = reader.snapshot((snapshot) => snapshot.line(seqOf(seq)))
      assert.ok(line !== undefined, `event ${seq} is in the log`)
      return Buffer.from(line).toString()
    },
    head: () => reader.head().seq,
    slotsTaken: slots.open,
    requests: () => callers.length,
    reported,
    async [Symbol.asyncDispose]() {
      await streams[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      assert.equal(slots.open(), 0, 'all slots are released')
      reader.close()
      db.close()
      rmSync(directory, { recursive: true })
    },
  }
}

function collaborators(
  reader: LogReader,
  streams: Streams,
  reported: unknown[],
  callers: string[],
): RequestPathParts {
  return {
    identity: reader.identity,
    mirrorOf: null,
    licence: null,
    requestIds: openRequestIds('t'),
    router: openRouter(streams.routes),
    cache: openAnswerCache(() => ''),
    answer: () => Promise.reject(new Error('streams alone are asked')),
    callerOf({ socket: { remoteAddress = 'unknown' } }) {
      callers.push(remoteAddress)
      return remoteAddress
    },
    counters: null,
    unready: () => undefined,
    following: null,
    now: () => msOf(LAUNCH_MS),
    monotonicMs: () => performance.now(),
    problemBase: '/api/problems',
    metrics: openMetrics(new Registry()),
    report: {
      all: false,
      answered: ({ error }) => error === null || reported.push(error),
      cut: () => undefined,
    },
  }
}

/** Slots that fail when one is released twice. */
function countSlots(limits: CallerSlotLimits): Pick<CallerSlots, 'take' | 'open' | 'limits'> {
  const slots = openCallerSlots(allocateCallerSlots(limits, 'a secret of the stage'))
  return {
    limits: slots.limits,
    open: slots.open,
    take(caller) {
      const taken = slots.take(caller)
      if (!taken.ok) return taken
      let released = false
      return {
        ok: true,
        slot: {
          release() {
            assert.equal(released, false, 'a slot is released once')
            released = true
            taken.slot.release()
          },
        },
      }
    },
  }
}
