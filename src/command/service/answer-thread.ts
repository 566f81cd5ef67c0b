import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openReader } from '../../log/open-reader.ts'
import { assert } from '../../protocol/brand.ts'
import type { Seq } from '../../protocol/seq.ts'
import { type AnswerJob, openAnswerer } from '../../serve/request/answer-job.ts'
import type { Reply } from '../../serve/http/route.ts'
import type { Script } from '../../web/assets/scripts.ts'
import { frontRoutesOf, type ShownSettings } from './front-routes.ts'
import { yieldToServing } from './thread-priority.ts'
import { openHeadCell } from '../../log/head-cell.ts'

/** Settings that the thread starts with. */
export type AnswerThreadSettings = ShownSettings & Readonly<{ data: string; head: SharedArrayBuffer }>

/** Messages from the serving thread. */
export type ToAnswerThread =
  | Readonly<{ is: 'job'; id: number; job: AnswerJob }>
  | Readonly<{ is: 'scripts'; scripts: readonly Script[] }>
  | Readonly<{ is: 'close' }>

/** Messages to the serving thread: an answer with its head and processor time, a failure, a request for the scripts of pages. */
export type FromAnswerThread =
  | Readonly<{ is: 'answer'; id: number; reply: Reply; head: Seq; tookMs: number }>
  | Readonly<{ is: 'failed'; id: number; error: unknown }>
  | Readonly<{ is: 'scripts-wanted' }>

/** Makes answers and pages for one serving thread, with the same routes and its own reader, so that they do not block it. */
function run(port: MessagePort, { data, head, ...settings }: AnswerThreadSettings): void {
  yieldToServing(process.platform)
  const say = (message: FromAnswerThread, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...transfer])
  const reader = openReader(data, openHeadCell(head))
  const scripts = Promise.withResolvers<readonly Script[]>()
  const { api, web } = frontRoutesOf(reader, settings, () => {
    say({ is: 'scripts-wanted' })
    return scripts.promise
  })
  const answerer = openAnswerer([...api, ...web.routes], web.refuse)

  async function answer(id: number, job: AnswerJob): Promise<void> {
    const before = process.threadCpuUsage()
    try {
      const reply = await answerer(job)
      // A copy can be transferred: the body itself may be a part of a pool, or kept here.
      const body = reply.is === 'coded' ? new Uint8Array(reply.body) : null
      const { user, system } = process.threadCpuUsage(before)
      const made = { is: 'answer', id, head: reader.head().seq, tookMs: (user + system) / 1_000 } as const
      if (reply.is === 'coded' && body !== null) say({ ...made, reply: { ...reply, body } }, [body.buffer])
      else say({ ...made, reply })
    } catch (error) {
      say({ is: 'failed', id, error })
    }
  }

  port.on('message', (message: ToAnswerThread) => {
    switch (message.is) {
      case 'job':
        void answer(message.id, message.job)
        break
      case 'scripts':
        scripts.resolve(message.scripts)
        break
      case 'close':
        reader.close()
        port.close()
        break
    }
  })
}

assert(parentPort !== null, 'answers are made in a thread of their own')
const started: AnswerThreadSettings = workerData
run(parentPort, started)
