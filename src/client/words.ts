import type { Surroundings } from './surroundings.ts'

/** What was said and not yet heard, oldest first. */
export type Words<Word> = Readonly<{
  put: (word: Word) => void
  /** The next word; undefined when none comes for so long. Rejects with the signal's reason. */
  next: (withinMs: number, signal: AbortSignal) => Promise<Word | undefined>
}>

/** Words that wait for a listener who is slow; of more, the oldest are forgotten. */
export const WORDS_MAX = 1_000

export function openWords<Word>({ sleep }: Pick<Surroundings, 'sleep'>): Words<Word> {
  const held: Word[] = []
  let wake = (): void => undefined
  return {
    put(word) {
      held.push(word)
      if (held.length > WORDS_MAX) held.shift()
      wake()
    },
    async next(withinMs, signal) {
      if (held.length === 0) {
        const done = new AbortController()
        const woken = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([woken, sleep(withinMs, AbortSignal.any([signal, done.signal]))])
        done.abort()
      }
      return held.shift()
    },
  }
}
