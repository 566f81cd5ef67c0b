/** Most requests in progress, and most bytes of their bodies. Bounds the memory of bodies and of drafts that wait for a commit. */
export const API_REQUESTS_MAX = 64
export const BODIES_BYTES_MAX: number = 64 * 1024 * 1024

/** Permit of one request. Must be disposed of when the request is answered. */
export type RequestPermit = Disposable &
  Readonly<{
    /** Settles when the permit was given to another request, which happens only before `bodyRead`. */
    lost: Promise<null>
    /** Counts bytes of the body. Returns false when the permit is lost. */
    addBytes(bytes: number): boolean
    /** Must be called when the body is whole: the permit stays then. Returns false when it is lost. */
    bodyRead(): boolean
  }>

/**
 * Opens the permits of a listener: the returned function gives one, or null when all belong to requests with a whole body. A
 * request that finds no permit, or no room for its body, takes that of the one that has been sending its body for longest.
 * So publishers that are slow, or never end, keep no others out.
 */
export function openRequestPermits(requestsMax: number, bytesMax: number): () => RequestPermit | null {
  /** Requests whose bodies are not whole, in the order of their arrival, and what takes the permit of each. */
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
