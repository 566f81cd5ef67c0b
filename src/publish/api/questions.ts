/** Result of a question whose answer did not come in time. */
export const LATE: unique symbol = Symbol('late')

/** Questions that one thread asks another by message, each with a time limit. */
type Questions<Answer> = Readonly<{
  /** Sends a question under a new number; `LATE` if no answer comes within `msMax`. */
  ask(msMax: number, send: (id: number) => void): Promise<Answer | typeof LATE>
  /** Settles one question; an answer that comes too late is dropped. */
  answer(id: number, answer: Answer): void
  /** Settles every open question with the same answer. */
  answerAll(answer: Answer): void
}>

/** Opens the questions of one thread to another. */
export function openQuestions<Answer>(): Questions<Answer> {
  const asked = new Map<number, (answer: Answer | typeof LATE) => void>()
  let lastId = 0
  return {
    ask(msMax, send) {
      const id = ++lastId
      return new Promise((resolve) => {
        // If this thread was busy, the answer may have arrived unread: one more turn of the event loop reads it.
        const limit = setTimeout(() => setImmediate(settle, LATE), msMax)
        function settle(answer: Answer | typeof LATE): void {
          clearTimeout(limit)
          asked.delete(id)
          resolve(answer)
        }
        asked.set(id, settle)
        send(id)
      })
    },
    answer: (id, answer) => asked.get(id)?.(answer),
    answerAll(answer) {
      for (const settle of asked.values()) settle(answer)
    },
  }
}
