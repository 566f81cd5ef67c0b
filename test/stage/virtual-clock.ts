/** A clock that stops while code runs and jumps to the next timer when the event loop is idle. */
type VirtualClock = Readonly<{
  now: () => number
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}>

type Timer = Readonly<{ at: number; order: number; ring: () => void }>

export function openVirtualClock(): VirtualClock {
  let time = 0
  let order = 0
  let looking = false
  const timers = new Set<Timer>()

  function look(): void {
    if (looking) return
    looking = true
    setImmediate(() => {
      looking = false
      const [next] = [...timers].toSorted((a, b) => a.at - b.at || a.order - b.order)
      if (next === undefined) return
      time = Math.max(time, next.at)
      timers.delete(next)
      next.ring()
      look()
    })
  }

  return {
    now: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason)
          return
        }
        const timer: Timer = {
          at: time + ms,
          order: order++,
          ring() {
            signal?.removeEventListener('abort', stop)
            resolve()
          },
        }
        const stop = (): void => {
          timers.delete(timer)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', stop, { once: true })
        timers.add(timer)
        look()
      }),
  }
}

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
