import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { reasonOf } from '../../protocol/error-reason.ts'

type LateSettings = Readonly<{
  /** Connects. Throws an `EngineError` while the engine takes no connection. */
  connect(): Promise<EngineConnection>
  /** Waits, or rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  /** Called after each attempt that failed, with the reason. */
  onRefused(reason: string): void
}>

/** Time between two attempts to connect. */
const RETRY_MS = 1_000

/**
 * A connection with an engine that may be away at the start of a node. The node serves the log that it has, and connects
 * when the engine answers.
 */
export function openLateConnection({ connect, sleep, onRefused }: LateSettings): EngineConnection {
  const closing = new AbortController()
  const told: ((bytes: Uint8Array) => void)[] = []
  const changed: ((what: string) => void)[] = []
  let connection: EngineConnection | null = null
  const away = (): EngineError => new EngineError('the engine of the log is not connected yet')
  const present = (): EngineConnection => {
    if (connection === null) throw away()
    return connection
  }

  /** Null when there is no connection, for whatever reason: it is told, and the next attempt follows. */
  async function attempt(): Promise<EngineConnection | null> {
    try {
      return await connect()
    } catch (error) {
      onRefused(error instanceof EngineError ? error.message : reasonOf(error))
      return null
    }
  }

  function begin(opened: EngineConnection): void {
    connection = opened
    for (const listener of told) opened.onTold(listener)
    for (const listener of changed) opened.onChange(listener)
    for (const listener of changed) listener('connected')
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const opened = await attempt()
      if (opened === null) await sleep(RETRY_MS, closing.signal).catch(() => undefined)
      else if (closing.signal.aborted) return await opened[Symbol.asyncDispose]()
      else return begin(opened)
    }
  }

  const running = run()
  return {
    log: {
      append: async (place, bytes) => (connection === null ? 'unknown' : connection.log.append(place, bytes)),
      read: async (from, bytesMax) => present().log.read(from, bytesMax),
      last: async () => present().log.last(),
      async wait(from, msMax) {
        if (connection === null) await sleep(Math.min(msMax, RETRY_MS), closing.signal).catch(() => undefined)
        else await connection.log.wait(from, msMax)
      },
    },
    tell: (bytes) => connection?.tell(bytes),
    onTold(listener) {
      told.push(listener)
      connection?.onTold(listener)
    },
    onChange(listener) {
      changed.push(listener)
      connection?.onChange(listener)
    },
    clockOffset: async () => present().clockOffset(),
    inspect: async () => present().inspect(),
    async [Symbol.asyncDispose]() {
      closing.abort()
      await running
      await connection?.[Symbol.asyncDispose]()
    },
  }
}
