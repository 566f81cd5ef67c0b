import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../../protocol/brand.ts'
import { runWriter } from './run-writer.ts'

assert(parentPort !== null, 'the writer runs in a thread of its own')
await runWriter(parentPort, workerData, {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  onUnhandled: (listener) => void process.on('unhandledRejection', listener),
})
