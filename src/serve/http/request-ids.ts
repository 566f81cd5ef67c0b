/** Ids of a thread's requests. A request has a number; its id is formatted only for a problem or a log line. */
export type RequestIds = Readonly<{ next(): number; format(request: number): string }>

/** Opens the ids of a thread. `prefix` tells threads and starts of the service apart. */
export function openRequestIds(prefix: string): RequestIds {
  let last = 0
  return {
    next() {
      last += 1
      return last
    },
    format: (request) => `${prefix}-${request.toString(36)}`,
  }
}
