import { DOOR_CONNECTIONS_MAX } from '../../publish/door/door.ts'
import { CONNECTIONS_MAX } from '../../serve/server.ts'

/** Connections beyond the streams that a public listener takes. */
const CONNECTIONS_HEADROOM = 2_000
/** Open files of the store, the runtime and its threads, where one thread serves. */
const FILES_OF_PROCESS = 128
/** Open files that are no public connection. */
export const FILES_RESERVED: number = FILES_OF_PROCESS + DOOR_CONNECTIONS_MAX
/** Open files of each further thread that serves and of the two that make its answers: their readers and loops. */
const FILES_OF_THREAD = 48

/** Open files that a node with so many streams wants, where one thread serves. */
export function openFilesFor(streamsMax: number): number {
  return streamsMax + CONNECTIONS_HEADROOM + FILES_RESERVED
}

/** How many public connections each thread that serves may have, and how many the node would have without a limit. */
export type ConnectionLimit = Readonly<{ each: number; wanted: number }>

/**
 * Divides the files that this process may open among the threads that serve, so that public connections never take
 * the last: the private listener and the store are of the same process. `openFiles` is null where it is not known.
 */
export function connectionLimit(
  openFiles: number | null,
  streamsMax: number,
  threads: number,
): ConnectionLimit {
  const wanted = Math.max(CONNECTIONS_MAX, streamsMax + CONNECTIONS_HEADROOM)
  if (openFiles === null) return { each: wanted, wanted }
  // Where even the reserve is too much, half of what there is stays free.
  const reserved = Math.min(FILES_RESERVED + (threads - 1) * FILES_OF_THREAD, Math.ceil(openFiles / 2))
  return { each: Math.max(1, Math.min(wanted, Math.floor((openFiles - reserved) / threads))), wanted }
}
