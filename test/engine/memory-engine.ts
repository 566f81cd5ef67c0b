import type { Appended, EngineConnection, EngineMessage } from '../../src/engine/log-engine.ts'
import { EngineError, MESSAGE_BYTES_MAX } from '../../src/engine/log-engine.ts'

/** An engine in memory, shared by its connections. */
export type MemoryEngine = Readonly<{ connect(): EngineConnection }>

export function openMemoryEngine(): MemoryEngine {
  const messages: EngineMessage[] = []
  const listeners = new Set<(bytes: Uint8Array) => void>()
  return {
    connect() {
      let isOpen = true
      const assertOpen = (): void => {
        if (!isOpen) throw new EngineError('the connection is closed')
      }
      return {
        log: {
          async append(place, bytes): Promise<Appended> {
            if (!isOpen || bytes.length > MESSAGE_BYTES_MAX) return 'unknown'
            if (place !== messages.length + 1) return 'taken'
            messages.push({ place, bytes: bytes.slice() })
            return 'appended'
          },
          async read(from, bytesMax) {
            assertOpen()
            let size = 0
            const end = messages.findIndex(
              ({ place, bytes }) => place >= from && (size += bytes.length) > bytesMax && place > from,
            )
            return messages.slice(from - 1, end < 0 ? undefined : end)
          },
          async last() {
            assertOpen()
            return messages.length
          },
          wait: async () => undefined,
        },
        tell: (bytes) => {
          for (const listener of listeners) listener(bytes)
        },
        onTold: (listener) => void listeners.add(listener),
        onChange: () => undefined,
        clockOffset: async () => ({ offsetMs: 0, errorMs: 0 }),
        inspect: async () => [],
        [Symbol.asyncDispose]: async () => {
          isOpen = false
        },
      }
    },
  }
}
