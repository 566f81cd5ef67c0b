import { setPriority } from 'node:os'

/** Niceness of an answer thread, so that serving and publishing come first when CPUs are busy. */
const PRIORITY = 5

/** Lowers the priority of this thread. Only Linux has a priority for each thread. */
export function yieldToServing(platform: string): void {
  if (platform !== 'linux') return
  try {
    setPriority(PRIORITY)
  } catch {
    // The thread also works at normal priority.
  }
}
