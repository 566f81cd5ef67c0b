/**
 * Answer of one attempt to append. Only these three are possible; an adapter lists which answers of its engine are
 * definite, and every other one is `unknown`.
 *
 * - `appended`: the message is at exactly the place asked for, and stays there through the loss of any one machine.
 * - `taken`: this attempt appended nothing and never will. The place is not the next free one: it has a message, or the
 *   place before it has none. It does not say who owns the place: an earlier attempt of the same caller may.
 * - `unknown`: the message may be there, may still arrive, or may never arrive.
 */
export type Appended = 'appended' | 'taken' | 'unknown'

/** A message of the log, and its place: 1, 2, 3 and so on, without gap. */
export type EngineMessage = Readonly<{ place: number; bytes: Uint8Array }>

/**
 * The log of record, as the engine of an operator carries it: an append-only sequence of messages, replicated over
 * machines. A message that an answer has shown never changes and never goes, except when the engine loses its tail.
 */
export type LogEngine = Readonly<{
  /**
   * Appends at exactly this place, which is a compare-and-set: it appends only when the place is the next free one.
   * Takes `ATTEMPT_MS_MAX` at most, and never throws. Keeps no reference to the bytes after its answer.
   */
  append(place: number, bytes: Uint8Array): Promise<Appended>
  /**
   * Messages from a place on, in order and without gap: as many as this replica has, up to `bytesMax`, but at least one
   * if it has one. May lag behind other replicas: an empty answer does not mean that the place is free.
   * Throws an `EngineError` when the log cannot be read.
   */
  read(from: number, bytesMax: number): Promise<readonly EngineMessage[]>
  /**
   * The newest place, 0 when the log is empty. A read barrier: every append that was answered `appended` to anyone before
   * this call is at or below the answer. So is every message that a read has shown before this call.
   * Throws an `EngineError` when no quorum confirms it.
   */
  last(): Promise<number>
  /** Resolves when a message at or after `from` may exist, or after `msMax`. It is only a hint. Never throws. */
  wait(from: number, msMax: number): Promise<void>
}>

/** Difference between the clock of the engine and ours, in milliseconds. */
type ClockOffset = Readonly<{
  /** The engine's clock minus ours. */
  offsetMs: number
  /** Half of the round trip of the question: the offset may be wrong by so much in either direction. */
  errorMs: number
}>

/** A connection with an engine: the log, and what is beside it. It reconnects by itself until it is disposed. */
export type EngineConnection = AsyncDisposable &
  Readonly<{
    log: LogEngine
    /** Tells all connected writers something short. Best effort, without answer. Never throws. */
    tell(bytes: Uint8Array): void
    /** Calls the listener with what writers tell, this one included or not. Later listeners do not replace earlier ones. */
    onTold(listener: (bytes: Uint8Array) => void): void
    /**
     * Calls the listener with a reason, in words, when the connection, the leader, the system identifier or the timeline
     * has changed. The writer reads to the end and hears the other writers again before it appends.
     */
    onChange(listener: (what: string) => void): void
    /** Measures the clocks. Throws an `EngineError` when the engine does not answer. */
    clockOffset(): Promise<ClockOffset>
    /**
     * Faults of the settings of the engine and of the user, one sentence each; empty when all is as required.
     * Throws an `EngineError` when they cannot be read.
     */
    inspect(): Promise<readonly string[]>
  }>

/** Longest duration of one attempt to append, in milliseconds: the writer's transaction is open for so long. */
export const ATTEMPT_MS_MAX = 1000

/** Most bytes of a message. */
export const MESSAGE_BYTES_MAX: number = 4 * 1024 * 1024

/** The engine did not do what was asked. The message says what, where, and what to do; it names no password. */
export class EngineError extends Error {
  override readonly name: string = 'EngineError'
}

/** The engine answers, and has no such stream. */
export class MissingStreamError extends EngineError {
  override readonly name = 'MissingStreamError'
}
