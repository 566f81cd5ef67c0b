/** Instead of an answer that did not come in time. */
export const LATE: unique symbol = Symbol('late')

/** The questions that one thread has asked another by message, each with a time limit. */
type Questions<Answer> = Readonly<{
  /** Asks with `send`, which is given the number of the question; `LATE` when no answer comes within `msMax`. */
  ask(msMax: number, send: (id: number) => void): Promise<Answer | typeof LATE>
  /** Takes an answer in; one that comes too late is dropped. */
  answer(id: number, answer: Answer): void
}>

export function openQuestions<Answer>(): Questions<Answer> {
  const asked = new Map<number, (answer: Answer | typeof LATE) => void>()
  let lastId = 0
  return {
    ask(msMax, send) {
      const id = ++lastId
      return new Promise((resolve) => {
        // One turn more: where this thread itself was held up, the answer may have come and not been read.
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
  }
}
