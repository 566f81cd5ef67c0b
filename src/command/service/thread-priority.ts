import { setPriority } from 'node:os'

/** Niceness of a thread that makes answers, so that serving and publishing come first when processors are busy. */
const PRIORITY = 5

/** Lowers the priority of this thread. Linux alone has a priority for each thread. */
export function yieldToServing(platform: string): void {
  if (platform !== 'linux') return
  try {
    setPriority(PRIORITY)
  } catch {
    // The thread also works at normal priority.
  }
}
