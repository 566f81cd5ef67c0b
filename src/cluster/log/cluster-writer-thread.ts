import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../../protocol/brand.ts'
import { runWriter } from '../../publish/writer/run-writer.ts'
import type { WriterSettings } from '../../publish/writer/writer-messages.ts'
import { type ClusterSettings, openClusterLog } from './cluster-log.ts'

assert(parentPort !== null, 'the writer runs in a thread of its own')
const settings: WriterSettings & ClusterSettings = workerData
const time = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: Math.random,
  sleep: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }),
  onUnhandled: (listener: (error: unknown) => void) => void process.on('unhandledRejection', listener),
}
await runWriter(parentPort, settings, time, (_, world) => openClusterLog(settings, world))
