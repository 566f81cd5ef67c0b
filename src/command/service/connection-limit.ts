import { PUBLISH_CONNECTIONS_MAX } from '../../publish/api/publish-api.ts'
import { CONNECTIONS_MAX } from '../../serve/server.ts'

/** Connections of a public listener beyond its streams. */
const CONNECTIONS_HEADROOM = 2_000
/** Open files of the store, the runtime and its threads, with one serving thread. */
const FILES_OF_PROCESS = 128
/** Open files that are not public connections. */
export const FILES_RESERVED: number = FILES_OF_PROCESS + PUBLISH_CONNECTIONS_MAX
/** Open files of each further serving thread and its two answer threads, for their readers and loops. */
const FILES_OF_THREAD = 48

/** Open files that a node with this number of streams needs, with one serving thread. */
export function openFilesFor(streamsMax: number): number {
  return streamsMax + CONNECTIONS_HEADROOM + FILES_RESERVED
}

/** Public connections of each serving thread, and of the node if open files were unlimited. */
type ConnectionLimit = Readonly<{ each: number; wanted: number }>

/**
 * Divides the open files of this process among its serving threads. Public connections never use the last files,
 * because the private listener and the store are in the same process. `openFiles` is null if it is unknown.
 */
export function connectionLimit(
  openFiles: number | null,
  streamsMax: number,
  threads: number,
): ConnectionLimit {
  const wanted = Math.max(CONNECTIONS_MAX, streamsMax + CONNECTIONS_HEADROOM)
  if (openFiles === null) return { each: wanted, wanted }
  // If the reserve is too large, half of the files stay free.
  const reserved = Math.min(FILES_RESERVED + (threads - 1) * FILES_OF_THREAD, Math.ceil(openFiles / 2))
  return { each: Math.max(1, Math.min(wanted, Math.floor((openFiles - reserved) / threads))), wanted }
}
