/** Servers whose answers are enough to go on without the others. */
const ENOUGH = 2

/**
 * Waits for servers that are asked at the same time. Each promise tells whether its server has answered. Once two have,
 * the others get `patienceMs` more. Rejects as soon as one promise does.
 */
export function enoughAnswers(asked: readonly Promise<boolean>[], patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let answered = 0
    const count = (hasAnswered: boolean): void => {
      if (hasAnswered) answered += 1
      if (hasAnswered && answered === ENOUGH) {
        AbortSignal.timeout(patienceMs).addEventListener('abort', () => resolve(), { once: true })
      }
    }
    for (const one of asked) one.then(count, reject)
    Promise.all(asked).then(() => resolve(), reject)
  })
}
