import { readdirSync, readlinkSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Handles of this process; active resources, timers and memory of this thread after a garbage collection. */
export type Held = Readonly<{
  handles: number
  sockets: number
  resources: number
  timers: number
  heapBytes: number
}>

export function heldNow(): Held {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  const handles = readdirSync('/proc/self/fd').map(targetOf)
  const resources = process.getActiveResourcesInfo()
  const { heapUsed, external } = process.memoryUsage()
  return {
    handles: handles.length,
    sockets: handles.filter((handle) => handle.startsWith('socket:')).length,
    resources: resources.length,
    timers: resources.filter((resource) => resource === 'Timeout').length,
    heapBytes: heapUsed + external,
  }
}

function targetOf(handle: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${handle}`)
  } catch {
    // The handle of the listing itself.
    return ''
  }
}
