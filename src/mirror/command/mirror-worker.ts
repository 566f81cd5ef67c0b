import { Worker } from 'node:worker_threads'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { FromMirror, MirrorThreadSettings, ToMirror } from './mirror-messages.ts'

/** Listeners of the main thread to the thread that follows the origin. */
type MirrorWorkerListeners = Readonly<{
  onMessage(message: Exclude<FromMirror, { is: 'broken' }>): void
  /** Called when the mirror can no longer be written. The service must stop. */
  onBroken(reason: string): void
}>

/** The thread that follows the origin. Disposal ends it. */
type MirrorWorker = AsyncDisposable &
  Readonly<{
    kill(): Promise<void>
    /** Makes the mirror judge a checkpoint that did not come from its origin. */
    show(note: string): void
  }>

/** Starts the thread. Resolves when its store is open and the head is set. */
export async function startMirrorWorker(
  settings: MirrorThreadSettings,
  listeners: MirrorWorkerListeners,
): Promise<MirrorWorker> {
  const worker = new Worker(new URL(import.meta.resolve('./mirror-thread.ts')), { workerData: settings })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let closing = false
  await new Promise<void>((resolve, reject) => {
    worker.on('error', (cause: Error) => {
      reject(cause)
      listeners.onBroken(`the thread of the mirror failed: ${reasonOf(cause)}`)
    })
    worker.on('exit', () => {
      reject(new Error('the thread of the mirror stopped before its store was open'))
      if (!closing) listeners.onBroken('the thread of the mirror stopped')
    })
    worker.on('message', (message: FromMirror) => {
      if (message.is === 'broken') return listeners.onBroken(message.reason)
      listeners.onMessage(message)
      resolve()
    })
  })
  const send = (message: ToMirror): void => worker.postMessage(message)
  return {
    show: (note) => send({ is: 'shown', note }),
    async kill() {
      closing = true
      await worker.terminate()
    },
    async [Symbol.asyncDispose]() {
      closing = true
      send({ is: 'close' })
      await exited
    },
  }
}
