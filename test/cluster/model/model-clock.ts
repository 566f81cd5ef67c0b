import { openVirtualClock } from '../../stage/virtual-clock.ts'

/** Virtual time that ends: after `stop` no sleep does, so that nothing of a schedule goes on. */
export type ModelClock = ReturnType<typeof openVirtualClock> & Readonly<{ stop(): void }>

export function openModelClock(): ModelClock {
  const clock = openVirtualClock()
  let isStopped = false
  return {
    now: clock.now,
    sleep: (ms, signal) => (isStopped ? new Promise(() => undefined) : clock.sleep(ms, signal)),
    stop: () => void (isStopped = true),
  }
}
