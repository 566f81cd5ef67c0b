import { LRUCache } from 'lru-cache'

/** A computed answer. Its bytes never change, so its compressed forms are cached with it. */
export type KeptAnswer = Readonly<{ body: Uint8Array; headers: Readonly<Record<string, string>> }>

/** Cache of computed answers, so that callers with the same question at the same head share one computation. */
export type AnswerCache<Answer extends Bodied = KeptAnswer> = Readonly<{
  get(key: string): Answer | undefined
  set(key: string, answer: Answer): void
}>

type Bodied = Readonly<{ body: Uint8Array }>

/**
 * Bytes of the largest cached answer. A larger one would evict many frequent ones. Ten thousand
 * contests, the longest answer and the most expensive one, are smaller.
 */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** Four of the longest answers. */
const BYTES_MAX = 32 * 1024 * 1024
const ANSWERS_MAX = 256

/** Opens a cache of the answers used last: at most 256 answers, and `bytesMax` bytes together. */
export function openAnswerCache<Answer extends Bodied = KeptAnswer>(
  bytesMax: number = BYTES_MAX,
): AnswerCache<Answer> {
  return new LRUCache<string, Answer>({
    max: ANSWERS_MAX,
    maxSize: bytesMax,
    maxEntrySize: Math.min(ANSWER_BYTES_MAX, bytesMax),
    // The library takes no size of 0.
    sizeCalculation: ({ body }) => Math.max(1, body.byteLength),
  })
}
