import type { Surroundings } from './surroundings.ts'

/** Queue of unread messages, oldest first. */
type MessageQueue<Message> = Readonly<{
  put: (message: Message) => void
  /** Takes the next message; undefined after this time without one. Rejects with the signal's reason. */
  next: (withinMs: number, signal: AbortSignal) => Promise<Message | undefined>
}>

/** Unread messages at most; beyond that the oldest are dropped. */
const MESSAGES_MAX = 1_000

/** Opens an empty queue. */
export function openMessageQueue<Message>({ sleep }: Pick<Surroundings, 'sleep'>): MessageQueue<Message> {
  const queue: Message[] = []
  let wake = (): void => undefined
  return {
    put(message) {
      queue.push(message)
      if (queue.length > MESSAGES_MAX) queue.shift()
      wake()
    },
    async next(withinMs, signal) {
      if (queue.length === 0) {
        const done = new AbortController()
        const woken = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([woken, sleep(withinMs, AbortSignal.any([signal, done.signal]))])
        done.abort()
      }
      return queue.shift()
    },
  }
}
