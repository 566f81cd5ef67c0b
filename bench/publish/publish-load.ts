import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Result of a round of publishing: acknowledged requests and drafts, and the time of each request. */
export type Published = Readonly<{
  requests: number
  drafts: number
  seconds: number
  latenciesMs: readonly number[]
  /** Requests that were sent again after 503. */
  repeats: number
}>

/** Publishers with one kept connection each. Each sends its next request after the last is acknowledged. */
export type Publishers = Disposable &
  Readonly<{
    /** Publishes at full speed for `forMs`. Rejects when a draft is not published. */
    publish(draftsPerRequest: number, forMs: number): Promise<Published>
    /** Sends drafts as one request. */
    send(drafts: readonly unknown[]): Promise<void>
  }>

/** Pause before a request is sent again. */
const REPEAT_MS = 50
/** Status of a draft that was sent before, and of one that was not. */
const TAKEN = /"status":"(?:published|duplicate)"/
/** Number of running contests. */
const CONTESTS = 64

/**
 * Connects to the door of a service that already has the contests of `openingDrafts`. `name` is the prefix of the refs
 * and must be unique. `repeatsMax` is how often a request is sent again, with the same refs, after 503.
 */
export async function connectPublishers(
  port: number,
  token: string,
  count: number,
  name = 'p',
  repeatsMax = 0,
): Promise<Publishers> {
  const publishers = await Promise.all(
    Array.from({ length: count }, async (_, index) =>
      openPublisher(port, token, `${name}-${index}`, repeatsMax),
    ),
  )
  return {
    async publish(draftsPerRequest, forMs) {
      const began = performance.now()
      const latenciesMs: number[] = []
      let repeats = 0
      const rounds = publishers.map(async (publisher) => {
        while (performance.now() - began < forMs) {
          const body = publisher.next(draftsPerRequest)
          const sentMs = performance.now()
          repeats += await publisher.ask(body, draftsPerRequest)
          latenciesMs.push(performance.now() - sentMs)
        }
      })
      await Promise.all(rounds)
      const requests = latenciesMs.length
      return {
        requests,
        drafts: requests * draftsPerRequest,
        seconds: (performance.now() - began) / 1000,
        latenciesMs,
        repeats,
      }
    },
    async send(drafts) {
      await publishers[0]?.ask(JSON.stringify(drafts), drafts.length)
    },
    [Symbol.dispose]() {
      for (const { socket } of publishers) socket.destroy()
    },
  }
}

/** Drafts that schedule and open the contests. */
export function openingDrafts(now: number): readonly object[] {
  const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString()
  return Array.from({ length: CONTESTS }, (_, index) => index + 1).flatMap((contestId) => [
    {
      ref: `c-${contestId}`,
      type: 'contest',
      kind: 'scheduled',
      contestId,
      details: { title: `Round ${contestId}`, opensAt: at(0), closesAt: at(24) },
    },
    { ref: `o-${contestId}`, type: 'contest', kind: 'opened', contestId },
  ])
}

type Publisher = Readonly<{
  socket: Socket
  next(drafts: number): string
  /** Resolves with the number of repeats. */
  ask(body: string, drafts: number): Promise<number>
}>

const KINDS = ['vote', 'vote', 'vote', 'entry', 'boost'] as const

async function openPublisher(
  port: number,
  token: string,
  name: string,
  repeatsMax: number,
): Promise<Publisher> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const head = `POST /publish HTTP/1.1\r\nHost: door\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: `
  let made = 0
  let answered: PromiseWithResolvers<string> | null = null
  let text = ''
  socket.setEncoding('latin1')
  socket.on('error', (error) => answered?.reject(error))
  socket.on('close', () => answered?.reject(new Error('the door closed the connection')))
  socket.on('data', (chunk: string) => {
    text += chunk
    if (!isWhole(text)) return
    const whole = text
    text = ''
    answered?.resolve(whole)
  })
  return {
    socket,
    next(drafts) {
      const parts: string[] = []
      for (let draft = 0; draft < drafts; draft++) {
        made++
        const contestId = ((made * 7) % CONTESTS) + 1
        const kind = KINDS[made % KINDS.length] ?? 'vote'
        parts.push(
          `{"ref":"${name}-${made}","type":"play","kind":"${kind}","contestId":${contestId},"kots":"${(made % 9) + 1}.25"}`,
        )
      }
      return `[${parts.join(',')}]`
    },
    async ask(body, drafts) {
      for (let repeats = 0; ; repeats++) {
        answered = Promise.withResolvers()
        socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`)
        const answer = await answered.promise
        if (answer.startsWith('HTTP/1.1 503') && repeats < repeatsMax) {
          await sleep(REPEAT_MS)
          continue
        }
        const published = answer.split(repeats === 0 ? '"status":"published"' : TAKEN).length - 1
        if (published !== drafts) throw new Error(`${published} of ${drafts} were published: ${answer}`)
        return repeats
      }
    },
  }
}

/** Whether the text holds a complete answer. Needs a `Content-Length`. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /content-length: (\d+)/i.exec(text)?.[1]
  return length !== undefined && text.length >= end + 4 + Number(length)
}
