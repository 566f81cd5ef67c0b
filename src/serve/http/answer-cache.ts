/** An answer as it was computed: its bytes never change, so that its compressed forms can be kept with it. */
export type KeptAnswer = Readonly<{ body: Uint8Array; headers: Readonly<Record<string, string>> }>

/** Answers computed lately, so that those who ask the same at the same head share one computation. */
export type AnswerCache<Answer extends Bodied = KeptAnswer> = Readonly<{
  get(key: string): Answer | undefined
  set(key: string, answer: Answer): void
}>

type Bodied = Readonly<{ body: Uint8Array }>

/**
 * A larger answer is not kept: it would push out what many ask for. The longest there are, ten thousand contests, are
 * shorter, and cost the most to compute.
 */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** Four of the longest. */
const BYTES_MAX = 32 * 1024 * 1024
const ANSWERS_MAX = 256

/** Keeps the answers used last, at most 256 of them and `bytesMax` together. */
export function openAnswerCache<Answer extends Bodied = KeptAnswer>(
  bytesMax: number = BYTES_MAX,
): AnswerCache<Answer> {
  // A Map keeps the order of insertion: the first key is the one used longest ago.
  const answers = new Map<string, Answer>()
  let bytes = 0

  function forget(key: string): void {
    bytes -= answers.get(key)?.body.byteLength ?? 0
    answers.delete(key)
  }

  return {
    get(key) {
      const found = answers.get(key)
      if (found === undefined) return undefined
      answers.delete(key)
      answers.set(key, found)
      return found
    },
    set(key, answer) {
      if (answer.body.byteLength > Math.min(ANSWER_BYTES_MAX, bytesMax)) return
      forget(key)
      answers.set(key, answer)
      bytes += answer.body.byteLength
      while (bytes > bytesMax || answers.size > ANSWERS_MAX) {
        const oldest = answers.keys().next()
        if (oldest.done === true) return
        forget(oldest.value)
      }
    },
  }
}
