import assert from 'node:assert/strict'
import type { Appended, EngineConnection, EngineMessage, LogEngine } from '../../src/engine/log-engine.ts'
import { ATTEMPT_MS_MAX, EngineError, MESSAGE_BYTES_MAX } from '../../src/engine/log-engine.ts'
import type { EngineFaults } from './engine-faults.ts'
import { NO_FAULTS } from './engine-faults.ts'

/** A connection whose network can be cut. */
export type MemoryConnection = EngineConnection &
  Readonly<{
    /** Loses everything that this connection sends or should receive. */
    cut(): void
    /** Ends `cut`, and tells the listeners of `onChange`. */
    heal(): void
  }>

/** An engine in memory, shared by its connections. All of its randomness comes from `random`, and its time from `clock`. */
export type MemoryEngine = Readonly<{
  connect(): MemoryConnection
  setFaults(faults: EngineFaults): void
  /**
   * Loses the newest messages, as the restore of an older state does. Returns them. A restore that is announced also ends
   * the appends that are on their way; a silent one does not.
   */
  loseTail(count: number, isAnnounced: boolean): readonly EngineMessage[]
  messages(): readonly EngineMessage[]
  /** Milliseconds that the engine's clock is ahead. */
  setClockOffset(ms: number): void
  /** Answer of `inspect`. */
  setComplaints(complaints: readonly string[]): void
}>

type MemoryEngineSettings = Readonly<{
  clock: Readonly<{ now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> }>
  /** Numbers from 0 to 1, without 1. */
  random(): number
}>

type StoredMessage = EngineMessage & Readonly<{ atMs: number }>

export function openMemoryEngine(settings: MemoryEngineSettings): MemoryEngine {
  const { clock, random } = settings
  const messages: StoredMessage[] = []
  const connections = new Set<Wire>()
  let faults = NO_FAULTS
  let offsetMs = 0
  let complaints: readonly string[] = []
  /** Restores so far that were announced. Appends that were on their way die with their connections. */
  let restores = 0

  const happens = (probability: number): boolean => probability > 0 && random() < probability
  const travel = (): Promise<void> => clock.sleep(faults.delayMs * random())

  /** The compare-and-set itself. */
  function arrive(place: number, bytes: Uint8Array, sentIn: number): Appended {
    if (sentIn !== restores) return 'unknown'
    if (place !== messages.length + 1) return 'taken'
    messages.push({ place, bytes, atMs: clock.now() })
    for (const wire of connections) wire.hint()
    return 'appended'
  }

  async function arriveLater(place: number, bytes: Uint8Array): Promise<void> {
    const sentIn = restores
    await clock.sleep(faults.lateMs * random())
    arrive(place, bytes, sentIn)
  }

  async function attempt(wire: Wire, place: number, bytes: Uint8Array): Promise<Appended> {
    const began = clock.now()
    if (wire.isReachable() && bytes.length <= MESSAGE_BYTES_MAX) {
      if (happens(faults.repeated)) void arriveLater(place, bytes)
      if (happens(faults.late)) void arriveLater(place, bytes)
      else if (!happens(faults.lostRequest)) {
        const sentIn = restores
        await travel()
        const answer = arrive(place, bytes, sentIn)
        await travel()
        if (wire.isReachable() && !happens(faults.lostAnswer)) return answer
      }
    }
    await clock.sleep(Math.max(0, began + ATTEMPT_MS_MAX - clock.now()))
    return 'unknown'
  }

  /** Runs the question at a moment between its way there and its way back. */
  async function ask<Answer>(wire: Wire, question: () => Answer): Promise<Answer> {
    await travel()
    wire.assertReachable()
    if (happens(faults.unreadable)) throw new EngineError('the engine has no quorum; wait for it')
    const answer = question()
    await travel()
    wire.assertReachable()
    return answer
  }

  function readReplica(from: number, bytesMax: number): readonly EngineMessage[] {
    const seenAtMs = clock.now() - faults.lagMs * random()
    const found: EngineMessage[] = []
    let size = 0
    for (let index = from - 1; index < messages.length; index += 1) {
      const { place, bytes, atMs } = messages[index] ?? assert.fail()
      size += bytes.length
      if (atMs > seenAtMs || (found.length > 0 && size > bytesMax)) break
      found.push({ place, bytes: bytes.slice() })
    }
    return found
  }

  function logOf(wire: Wire): LogEngine {
    return {
      append: (place, bytes) => attempt(wire, place, bytes.slice()),
      read: (from, bytesMax) => ask(wire, () => readReplica(from, bytesMax)),
      last: () => ask(wire, () => messages.length),
      async wait(from, msMax) {
        if (messages.length >= from) return clock.sleep(0)
        const hint = wire.nextHint()
        const ended = new AbortController()
        const slept = clock.sleep(msMax, ended.signal).catch(() => undefined)
        await Promise.race([hint.heard, slept])
        hint.forget()
        ended.abort()
      },
    }
  }

  function connect(): MemoryConnection {
    const wire = openWire(() => happens(faults.lostHint))
    connections.add(wire)
    return {
      log: logOf(wire),
      tell(bytes) {
        const copy = bytes.slice()
        if (!wire.isReachable()) return
        for (const other of connections) {
          if (!happens(faults.lostTold)) void travel().then(() => other.told(copy))
        }
      },
      onTold: (listener) => void wire.listeners.add(listener),
      onChange: (listener) => void wire.changes.add(listener),
      clockOffset: () => ask(wire, () => ({ offsetMs, errorMs: faults.delayMs })),
      inspect: () => ask(wire, () => complaints),
      cut: () => wire.setReachable(false),
      heal() {
        wire.setReachable(true)
        wire.change('reconnected')
      },
      async [Symbol.asyncDispose]() {
        wire.setReachable(false)
        connections.delete(wire)
      },
    }
  }

  return {
    connect,
    setFaults: (next) => void (faults = next),
    loseTail(count, isAnnounced) {
      const lost = messages.splice(Math.max(0, messages.length - count))
      if (isAnnounced) restores += 1
      if (isAnnounced) for (const wire of connections) wire.change('the engine has another timeline')
      return lost
    },
    messages: () => messages,
    setClockOffset: (ms) => void (offsetMs = ms),
    setComplaints: (next) => void (complaints = next),
  }
}

/** The network of one connection. */
type Wire = ReturnType<typeof openWire>

function openWire(isHintLost: () => boolean) {
  let reachable = true
  const waiting = new Set<() => void>()
  const listeners = new Set<(bytes: Uint8Array) => void>()
  const changes = new Set<(what: string) => void>()
  return {
    listeners,
    changes,
    isReachable: () => reachable,
    setReachable: (next: boolean) => void (reachable = next),
    assertReachable() {
      if (!reachable) throw new EngineError('the engine is not reachable')
    },
    hint() {
      if (reachable) for (const wake of waiting) wake()
    },
    nextHint() {
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = (): void => (isHintLost() ? undefined : resolve())
      waiting.add(wake)
      return { heard: promise, forget: () => waiting.delete(wake) }
    },
    told(bytes: Uint8Array) {
      if (reachable) for (const listener of listeners) listener(bytes)
    },
    change(what: string) {
      if (reachable) for (const listener of changes) listener(what)
    },
  }
}
