/**
 * Most requests in progress, and most bytes of their bodies. Limits the memory of bodies and of drafts that wait for a
 * commit.
 */
export const API_REQUESTS_MAX = 64
export const BODIES_BYTES_MAX: number = 64 * 1024 * 1024

/** Permit of one request. Must be disposed of when the request is answered. */
export type RequestPermit = Disposable &
  Readonly<{
    /** Resolves when another request takes the permit, which happens only before `bodyRead`. */
    lost: Promise<null>
    /** Counts bytes of the body. Returns false when the permit is lost. */
    addBytes(bytes: number): boolean
    /**
     * Must be called when the body is complete; after that the permit cannot be lost. Returns false when it is lost
     * already.
     */
    bodyRead(): boolean
  }>

/**
 * Opens the permits of a listener. The returned function gives a permit, or null when all belong to requests with a
 * complete body. When permits or room for bodies run out, the request that has been sending its body longest loses its
 * permit. So slow publishers do not block others.
 */
export function openRequestPermits(requestsMax: number, bytesMax: number): () => RequestPermit | null {
  /** Functions that take the permits of requests with incomplete bodies, in order of arrival. */
  const sending = new Set<() => void>()
  let [requests, bytes] = [0, 0]

  return () => {
    if (requests >= requestsMax) {
      const [oldest] = sending
      if (oldest === undefined) return null
      oldest()
    }
    const lost = Promise.withResolvers<null>()
    let [own, isOpen] = [0, true]
    const close = (): void => {
      if (!isOpen) return
      isOpen = false
      sending.delete(lose)
      requests -= 1
      bytes -= own
    }
    const lose = (): void => {
      close()
      lost.resolve(null)
    }
    requests += 1
    sending.add(lose)
    return {
      lost: lost.promise,
      addBytes(more) {
        // The oldest may be this one.
        for (const oldest of sending) {
          if (!isOpen || bytes + more <= bytesMax) break
          oldest()
        }
        if (!isOpen) return false
        own += more
        bytes += more
        return true
      },
      bodyRead: () => sending.delete(lose),
      [Symbol.dispose]: close,
    }
  }
}
