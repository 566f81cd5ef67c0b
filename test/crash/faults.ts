import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread, workerData } from 'node:worker_threads'
import { Registry } from 'prom-client'

/**
 * Loaded into each thread of a service before its own code (`--import`). Makes the thread fail when a file in the
 * folder `FAULTS_OF_TEST` has the name of a fault and of the thread, and removes the file. `step-clock` sets its wall
 * clock two hours ahead. The file `clock` stays: it has the milliseconds by which the clock of every
 * thread is ahead, and is replaced as a whole.
 */
const folder = process.env['FAULTS_OF_TEST'] ?? ''
const LOOK_MS = 20
/** Milliseconds for which a blocked thread does nothing. */
const BLOCKED_MS = 8_000
const given: unknown = workerData
const thread = isMainThread ? 'main' : has('tokens') ? 'writer' : has('memory') ? 'front' : 'answer'

/** Whether the thread was started with a setting of this name. */
function has(name: string): boolean {
  return typeof given === 'object' && given !== null && name in given
}

function isAsked(fault: string): boolean {
  const file = join(folder, `${fault}-${thread}`)
  if (!existsSync(file)) return false
  rmSync(file)
  return true
}

const STEP_MS = 7_200_000
const realNow = Date.now

const clockFile = join(folder, 'clock')
let aheadMs = 0

function setClock(): void {
  const ahead = existsSync(clockFile) ? Number(readFileSync(clockFile, 'utf8')) : 0
  if (ahead !== aheadMs) Date.now = () => realNow() + ahead
  aheadMs = ahead
  if (isAsked('step-clock')) Date.now = () => realNow() + STEP_MS
}

// At once, for a clock that is wrong from the start.
setClock()
setInterval(() => {
  setClock()
  if (isAsked('reject')) void Promise.reject(new Error(`a rejection in ${thread}`))
  if (isAsked('block')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS)
}, LOOK_MS).unref()

for (const name of ['metrics', 'getMetricsAsJSON'] as const) {
  const real = Reflect.get(Registry.prototype, name)
  Reflect.set(Registry.prototype, name, async function collect(this: Registry, ...rest: unknown[]) {
    if (isAsked('collector')) throw new Error(`a collector fails in ${thread}`)
    return Reflect.apply(real, this, rest)
  })
}
