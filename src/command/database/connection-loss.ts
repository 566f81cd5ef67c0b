/** The loss of a connection. Many statements wait for it over its life, each for a short while. */
export type ConnectionLoss = Readonly<{
  /** Ends everything that waits, now and later. Only the first reason counts. */
  tell(reason: Error): void
  /** Settles as the work does, or rejects with the reason as soon as the connection is lost. Begins no work after that. */
  during<T>(work: () => PromiseLike<T> | T): Promise<T>
  /** Resolves at the loss. */
  lost: Promise<void>
}>

/** Opens the loss of a new connection. */
export function openLoss(): ConnectionLoss {
  // A promise would keep something of each statement that ever raced it.
  const waiting = new Set<(reason: Error) => void>()
  const lost = Promise.withResolvers<void>()
  let first: Error | null = null
  return {
    tell(reason) {
      if (first !== null) return
      first = reason
      lost.resolve()
      for (const reject of waiting) reject(reason)
    },
    async during(work) {
      if (first !== null) throw first
      const { promise, reject } = Promise.withResolvers<never>()
      waiting.add(reject)
      try {
        return await Promise.race([work(), promise])
      } finally {
        waiting.delete(reject)
      }
    },
    lost: lost.promise,
  }
}
