import type { ServerResponse } from 'node:http'
import { assert } from '../../protocol/brand.ts'

/** Most bytes of written answers that one thread holds for callers that do not read them. */
export const UNREAD_BYTES_MAX: number = 256 * 1024 * 1024

/** Written answers that wait in memory for their callers to read them. */
type UnreadAnswers = Readonly<{
  /**
   * Watches a completely written answer. `body` is its array if other answers may share it. Costs nothing when the
   * caller has already read the answer.
   */
  watch(response: ServerResponse, caller: string, body: Uint8Array | null): void
  /** Bytes currently held. A shared array counts once. */
  bytes(): number
}>

/** Waiting answer: its array, which other answers may share, and its other bytes. */
type Unread = Readonly<{ body: Uint8Array | null; ownBytes: number }>

/** Memory of several answers; changed in place. */
type Memory = {
  bytes: number
  /** Number of the answers that have each array. */
  readonly uses: Map<Uint8Array, number>
}

/** Waiting answers of one caller, oldest first (a Map keeps the order of insertion). */
type Waiting = Readonly<{ answers: Map<ServerResponse, Unread>; memory: Memory }>

/**
 * Limits the memory of unread answers. Above the limit, closes connections of the caller that holds most, the oldest
 * first.
 */
export function openUnreadAnswers(
  bytesMax: number = UNREAD_BYTES_MAX,
  onCut: () => void = () => undefined,
): UnreadAnswers {
  const memory = noMemory()
  const callers = new Map<string, Waiting>()

  function release(response: ServerResponse, caller: string): void {
    const waiting = callers.get(caller)
    const unread = waiting?.answers.get(response)
    if (waiting === undefined || unread === undefined) return
    waiting.answers.delete(response)
    if (waiting.answers.size === 0) callers.delete(caller)
    free(waiting.memory, unread)
    free(memory, unread)
  }

  function cutOne(): void {
    const [caller, { answers }] = largestOf(callers, memory)
    const [oldest] = answers.keys()
    assert(oldest !== undefined, 'a caller is kept while one of its answers waits')
    release(oldest, caller)
    // Destroys the connection, because an answer that waits behind another has no socket of its own yet.
    oldest.req.socket.destroy()
    onCut()
  }

  return {
    watch(response, caller, body) {
      const bytes = response.writableLength
      if (bytes === 0 || response.destroyed) return
      // HEAD and 304 are answered without the body.
      const shared = body !== null && body.byteLength <= bytes ? body : null
      const unread = { body: shared, ownBytes: bytes - (shared?.byteLength ?? 0) }
      const waiting = callers.get(caller) ?? { answers: new Map(), memory: noMemory() }
      callers.set(caller, waiting)
      waiting.answers.set(response, unread)
      hold(waiting.memory, unread)
      hold(memory, unread)
      response.once('close', () => release(response, caller))
      while (memory.bytes > bytesMax) cutOne()
    },
    bytes: () => memory.bytes,
  }
}

function noMemory(): Memory {
  return { bytes: 0, uses: new Map() }
}

function hold(memory: Memory, { body, ownBytes }: Unread): void {
  memory.bytes += ownBytes
  if (body === null) return
  const uses = memory.uses.get(body) ?? 0
  if (uses === 0) memory.bytes += body.byteLength
  memory.uses.set(body, uses + 1)
}

function free(memory: Memory, { body, ownBytes }: Unread): void {
  memory.bytes -= ownBytes
  if (body === null) return
  const uses = (memory.uses.get(body) ?? 0) - 1
  if (uses > 0) memory.uses.set(body, uses)
  else {
    memory.uses.delete(body)
    memory.bytes -= body.byteLength
  }
}

/** Caller whose answers hold most memory. At least one caller must have answers. */
function largestOf(
  callers: ReadonlyMap<string, Waiting>,
  all: Memory,
): readonly [caller: string, waiting: Waiting] {
  const shares = [...callers].map((caller) => ({ caller, bytes: shareOf(caller[1].memory, all) }))
  return shares.reduce((most, one) => (one.bytes > most.bytes ? one : most)).caller
}

/** Bytes charged to a caller. A shared array is charged by the caller's part of the answers that share it. */
function shareOf({ bytes, uses }: Memory, all: Memory): number {
  return [...uses].reduce(
    (share, [body, own]) => share - body.byteLength * (1 - own / (all.uses.get(body) ?? own)),
    bytes,
  )
}
