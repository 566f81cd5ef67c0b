import { setPriority } from 'node:os'
import type { MessagePort } from 'node:worker_threads'
import { parentPort, workerData } from 'node:worker_threads'
import { openHeadCell } from '../../log/store/head-cell.ts'
import { openReader } from '../../log/open-reader.ts'
import { assert } from '../../protocol/brand.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Question } from '../../serve/exchange/thread-question.ts'
import { openAnswerer } from '../../serve/exchange/answerer.ts'
import { openRouter } from '../../serve/http/router.ts'
import type { Reply } from '../../serve/http/route.ts'
import type { Script } from '../../web/assets/bundle-cache.ts'
import type { Site } from '../../web/markup/site.ts'
import { frontRoutesOf } from './front-routes.ts'

/** What the thread is started with. */
export type AnswerThreadSettings = Readonly<{ data: string; head: SharedArrayBuffer; site: Site }>

/** What the serving thread tells it. */
export type ToAnswerThread =
  | Readonly<{ is: 'question'; id: number; question: Question }>
  | Readonly<{ is: 'scripts'; scripts: readonly Script[] }>
  | Readonly<{ is: 'close' }>

/** What it says: its answers, each with the head that it was made at and what it took; that it needs the scripts of pages. */
export type FromAnswerThread =
  | Readonly<{ is: 'answer'; id: number; reply: Reply; head: Seq; tookMs: number }>
  | Readonly<{ is: 'failed'; id: number; error: unknown }>
  | Readonly<{ is: 'scripts-wanted' }>

/** Serving and publishing come first where processors are short. */
const PRIORITY = 5

/**
 * A thread that makes answers and pages for one serving thread, so that none of them holds it up: a reader of its own,
 * and the same routes.
 */
function run(port: MessagePort, { data, head, site }: AnswerThreadSettings): void {
  yieldToServing()
  const say = (message: FromAnswerThread, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...transfer])
  const reader = openReader(data, openHeadCell(head))
  const scripts = Promise.withResolvers<readonly Script[]>()
  const { api, web } = frontRoutesOf(reader, site, () => {
    say({ is: 'scripts-wanted' })
    return scripts.promise
  })
  const answerer = openAnswerer(openRouter([...api, ...web.routes]), web.refuse)

  async function answer(id: number, question: Question): Promise<void> {
    const before = process.threadCpuUsage()
    try {
      const reply = own(await answerer(question))
      const { user, system } = process.threadCpuUsage(before)
      const tookMs = (user + system) / 1_000
      const bodies = reply.is === 'coded' ? [reply.body.buffer] : []
      say({ is: 'answer', id, reply, head: reader.head().seq, tookMs }, bodies.filter(isPlain))
    } catch (error) {
      say({ is: 'failed', id, error })
    }
  }

  port.on('message', (message: ToAnswerThread) => {
    switch (message.is) {
      case 'question':
        void answer(message.id, message.question)
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

/** The reply with a body of its own, which may be handed over: one that is kept here too is copied. */
function own(reply: Reply): Reply {
  return reply.is === 'coded' ? { ...reply, body: new Uint8Array(reply.body) } : reply
}

function isPlain(buffer: ArrayBufferLike): buffer is ArrayBuffer {
  return buffer instanceof ArrayBuffer
}

/** On Linux a priority is that of a thread. Where the system refuses, the thread is one like any other. */
function yieldToServing(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(PRIORITY)
  } catch {
    // A lower priority is a courtesy, not a need.
  }
}

assert(parentPort !== null, 'answers are made in a thread of their own')
const settings: AnswerThreadSettings = workerData
run(parentPort, settings)
