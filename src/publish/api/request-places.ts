/** Most requests in progress, and most bytes of their bodies. Bounds the memory of bodies and of drafts that wait for a commit. */
export const API_REQUESTS_MAX = 64
export const BODIES_BYTES_MAX: number = 64 * 1024 * 1024

/** Place of one request. Must be disposed of when the request is answered. */
export type RequestPlace = Disposable &
  Readonly<{
    /** Settles when the place was given to another request, which happens only before `keep`. */
    lost: Promise<null>
    /** Counts bytes of the body. Returns false when the place is lost. */
    take(bytes: number): boolean
    /** Must be called when the body is whole: the request keeps its place then. Returns false when it has lost it. */
    keep(): boolean
  }>

/** Places for requests. */
export type RequestPlaces = Readonly<{
  /** Gives a request its place; null when all places are kept. */
  enter(): RequestPlace | null
}>

/**
 * Opens the places of a listener. A request that finds no place, or no room for its body, takes the place of the one that
 * has been sending its body for longest. So publishers that are slow, or never end, keep no others out.
 */
export function openRequestPlaces(requestsMax: number, bytesMax: number): RequestPlaces {
  /** Requests whose bodies are not whole, in the order of their arrival, and what takes the place of each. */
  const sending = new Set<() => void>()
  let [requests, bytes] = [0, 0]

  /** Ends the oldest request whose body is not whole. Returns false when there is none. */
  function makeRoom(): boolean {
    const [oldest] = sending
    oldest?.()
    return oldest !== undefined
  }

  function enter(): RequestPlace | null {
    if (requests >= requestsMax && !makeRoom()) return null
    const lost = Promise.withResolvers<null>()
    let [own, isOpen] = [0, true]
    const leave = (): void => {
      if (!isOpen) return
      isOpen = false
      sending.delete(end)
      requests -= 1
      bytes -= own
    }
    const end = (): void => {
      leave()
      lost.resolve(null)
    }
    requests += 1
    sending.add(end)
    return {
      lost: lost.promise,
      take(more) {
        const lacksRoom = (): boolean => isOpen && bytes + more > bytesMax
        while (lacksRoom()) makeRoom()
        if (!isOpen) return false
        own += more
        bytes += more
        return true
      },
      keep: () => sending.delete(end),
      [Symbol.dispose]: leave,
    }
  }

  return { enter }
}
