import { parentPort } from 'node:worker_threads'
import { type CutJob, runCuts } from './cut-run.ts'

/** Thread that checks power cuts: each message is a job, and the answer its counts. */
parentPort?.on('message', (job: CutJob) => {
  void runCuts(job).then((counts) => parentPort?.postMessage(counts))
})
