import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeProcess } from '../../test/stage/node-process.ts'

/** Publishers with one kept connection each. Each sends its next request after the last is acknowledged. */
export type Publishers = Disposable &
  Readonly<{
    /** Publishes at full speed for `forMs`, and returns the drafts a second. Rejects when a draft is not published. */
    publish(draftsPerRequest: number, forMs: number): Promise<number>
  }>

/** Number of running contests. */
const CONTESTS = 64
const KINDS = ['vote', 'vote', 'vote', 'entry', 'boost'] as const
/** Most times that a request is sent again after 503, and the pause before: a busy machine may lead too late. */
const REPEATS_MAX = 100
const REPEAT_MS = 50

/** Opens the contests of a new log, and connects publishers. */
export async function connectPublishers(node: NodeProcess, count: number): Promise<Publishers> {
  const { status } = await node.publish(openingDrafts(Date.now()))
  if (status !== 200) throw new Error(`the service answered ${status}`)
  const publishers = await Promise.all(
    Array.from({ length: count }, (_, index) => openPublisher(node, index)),
  )
  return {
    async publish(draftsPerRequest, forMs) {
      const began = performance.now()
      let drafts = 0
      const rounds = publishers.map(async ({ publish }) => {
        while (performance.now() - began < forMs) {
          await publish(draftsPerRequest)
          drafts += draftsPerRequest
        }
      })
      await Promise.all(rounds)
      return (drafts / (performance.now() - began)) * 1_000
    },
    [Symbol.dispose]() {
      for (const { socket } of publishers) socket.destroy()
    },
  }
}

/** Drafts that schedule and open the contests. */
function openingDrafts(now: number): readonly object[] {
  const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString()
  return Array.from({ length: CONTESTS }, (_, index) => index + 1).flatMap((contestId) => {
    const details = { title: `Round ${contestId}`, opensAt: at(0), closesAt: at(24) }
    return [
      { ref: `c-${contestId}`, type: 'contest', kind: 'scheduled', contestId, details },
      { ref: `o-${contestId}`, type: 'contest', kind: 'opened', contestId },
    ]
  })
}

type Publisher = Readonly<{ socket: Socket; publish(drafts: number): Promise<void> }>

async function openPublisher({ publishUrl, token }: NodeProcess, index: number): Promise<Publisher> {
  const socket = connect({ port: Number(new URL(publishUrl).port), host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const head = `POST /publish HTTP/1.1\r\nHost: publish\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
  let made = 0
  let answered: PromiseWithResolvers<string> | null = null
  let text = ''
  socket.setEncoding('latin1')
  socket.on('error', (error) => answered?.reject(error))
  socket.on('close', () => answered?.reject(new Error('the publish API closed the connection')))
  socket.on('data', (chunk: string) => {
    text += chunk
    const end = text.indexOf('\r\n\r\n')
    const length = /content-length: (\d+)/i.exec(text)?.[1]
    if (end < 0 || length === undefined || text.length < end + 4 + Number(length)) return
    answered?.resolve(text)
    text = ''
  })
  const next = (): string => {
    made++
    const contestId = ((made * 7) % CONTESTS) + 1
    const kind = KINDS[made % KINDS.length]
    return `{"ref":"p-${index}-${made}","type":"play","kind":"${kind}","contestId":${contestId},"kots":"${(made % 9) + 1}.25"}`
  }
  return {
    socket,
    async publish(drafts) {
      const body = `[${Array.from({ length: drafts }, next).join(',')}]`
      for (let repeats = 0; ; repeats++) {
        answered = Promise.withResolvers()
        socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
        const answer = await answered.promise
        if (answer.startsWith('HTTP/1.1 503') && repeats < REPEATS_MAX) {
          await sleep(REPEAT_MS)
          continue
        }
        const taken = answer.match(/"status":"(?:published|duplicate)"/g)?.length ?? 0
        if (taken !== drafts) throw new Error(`${taken} of ${drafts} were published: ${answer}`)
        return
      }
    },
  }
}
