import { setTimeout as sleep } from 'node:timers/promises'

/** Waits, unless or until the command is stopped. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined)
}
