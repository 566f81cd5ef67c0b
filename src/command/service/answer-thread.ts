import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openReader } from '../../log/open-reader.ts'
import { assert } from '../../protocol/brand.ts'
import type { Seq } from '../../protocol/seq.ts'
import { type AnswerJob, openAnswerer } from '../../serve/request/answer-job.ts'
import type { Reply } from '../../serve/http/route.ts'
import type { Script } from '../../web/assets/scripts.ts'
import { frontRoutesOf, type ShownSettings } from './front-routes.ts'
import { openThreadLink, transferring } from '../../publish/thread-link.ts'
import { yieldToServing } from './thread-priority.ts'
import { openHeadCell } from '../../log/head-cell.ts'

/** Settings that the thread starts with. */
export type AnswerThreadSettings = ShownSettings & Readonly<{ data: string; head: SharedArrayBuffer }>

/** Messages of the serving thread. */
export type ToAnswerThread = Readonly<{
  make(job: AnswerJob): Promise<MadeAnswer>
  close(): void
}>

/** A reply, the head at which it was made, and its CPU time in milliseconds. */
export type MadeAnswer = Readonly<{ reply: Reply; head: Seq; tookMs: number }>

/** Messages to the serving thread. */
export type FromAnswerThread = Readonly<{
  /** Scripts of the pages, bundled once for all threads. */
  scripts(): Promise<readonly Script[]>
}>

/**
 * Makes answers and pages for one serving thread, so that they do not block it. It has the same routes and its own
 * reader.
 */
function run(port: MessagePort, { data, head, ...settings }: AnswerThreadSettings): void {
  yieldToServing(process.platform)
  const reader = openReader(data, openHeadCell(head))
  const link = openThreadLink<{ sent: FromAnswerThread; received: ToAnswerThread }>(port, {
    async make(job) {
      const before = process.threadCpuUsage()
      const reply = await answer(job)
      const { user, system } = process.threadCpuUsage(before)
      const made = { head: reader.head().seq, tookMs: (user + system) / 1_000 }
      if (reply.is !== 'coded') return { ...made, reply }
      // Only a copy can be transferred: the body itself may be part of a pool, or cached here.
      const body = new Uint8Array(reply.body)
      return transferring({ ...made, reply: { ...reply, body } }, [body.buffer])
    },
    close() {
      reader.close()
      port.close()
    },
  })
  let scripts: Promise<readonly Script[]> | undefined
  const { api, web } = frontRoutesOf(reader, settings, () => (scripts ??= link.ask('scripts')))
  const answer = openAnswerer([...api, ...web.routes], web.refuse)
}

assert(parentPort !== null, 'answers are made in a thread of their own')
const started: AnswerThreadSettings = workerData
run(parentPort, started)
