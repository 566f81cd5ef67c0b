import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { openRelay } from '../../stage/relay.ts'

/** Settings of the crowd: the service, and its subscribers, who begin after `head`. */
export type CrowdSettings = Readonly<{ url: string; subscribers: number; head: number }>
/** Orders to the thread: `drop` all connections at once; tell when all have a `seq`; `end`. */
export type CrowdOrder = Readonly<{ is: 'drop' | 'end' }> | Readonly<{ is: 'reach'; seq: number }>
/** Reports of the thread. Lines are those that the first subscriber of an event saw. */
export type CrowdReport =
  | Readonly<{ is: 'dropped'; connections: number }>
  | Readonly<{ is: 'reached' }>
  | Readonly<{
      is: 'ended'
      lines: readonly string[]
      faults: readonly string[]
      counts: Readonly<Record<'connections' | 'deliveries' | 'refused' | 'retries', number>>
    }>

const PER_CALLER = 8
const FAULTS_MAX = 20
/** Wait of a subscriber that was told none. */
const UNTOLD_RETRY_MS = 500

type Subscriber = {
  readonly number: number
  seq: number
  live: boolean
  retryMs: number
  socket: Socket | null
}

const settings = workerData as CrowdSettings
const relay = await openRelay(settings.url)
const port = Number(new URL(relay.url).port)
const lines: string[] = []
const faults: string[] = []
const counts = { connections: 0, deliveries: 0, refused: 0, retries: 0 }
const state = { ended: false, reach: Infinity }
const subscribers: readonly Subscriber[] = Array.from({ length: settings.subscribers }, (_, number) => ({
  number,
  seq: settings.head,
  live: false,
  retryMs: UNTOLD_RETRY_MS,
  socket: null,
}))

/** Connects like a browser: after the last id that came, and after the wait that the service told. */
function open(subscriber: Subscriber): void {
  if (state.ended) return
  const socket = connect(port, '127.0.0.1')
  subscriber.socket = socket
  subscriber.live = false
  let rest = ''
  let begun = false
  counts.connections += 1
  socket.setEncoding('latin1')
  const caller = `10.${subscriber.number >> 11}.${(subscriber.number >> 3) & 255}.${PER_CALLER}`
  const headers = [`X-Forwarded-For: ${caller}`, `Last-Event-ID: ${subscriber.seq}`]
  socket.write(`GET /api/v1/stream HTTP/1.0\r\n${headers.join('\r\n')}\r\n\r\n`)
  socket.on('error', () => undefined)
  socket.once('close', () => {
    subscriber.live = false
    counts.retries += 1
    setTimeout(open, subscriber.retryMs, subscriber)
  })
  socket.on('data', (text: string) => {
    rest += text
    if (!begun) {
      const end = rest.indexOf('\r\n\r\n')
      if (end < 0) return
      begun = true
      if (!rest.startsWith('HTTP/1.1 200')) {
        counts.refused += 1
        socket.destroy()
        return
      }
      rest = rest.slice(end + 4)
    }
    const messages = rest.split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) take(subscriber, message)
    tellReached()
  })
}

function take(subscriber: Subscriber, message: string): void {
  if (message.startsWith('retry: ')) {
    subscriber.retryMs = Number(message.slice(7))
  } else if (message.startsWith('event: position\n')) {
    if (message.includes('"live":true')) subscriber.live = true
    const seq = Number(/^id: (\d+)$/m.exec(message)?.[1])
    if (seq !== subscriber.seq) fault(`${subscriber.number}: position ${seq} after ${subscriber.seq}`)
  } else {
    const seq = Number(/^id: (\d+)\n/.exec(message)?.[1])
    const line = message.slice(message.indexOf('\ndata: ') + 7)
    if (seq !== subscriber.seq + 1) fault(`${subscriber.number}: event ${seq} after ${subscriber.seq}`)
    const known = lines[seq - 1 - settings.head]
    if (known === undefined) lines[seq - 1 - settings.head] = line
    else if (known !== line) fault(`${subscriber.number}: another line of ${seq}`)
    subscriber.seq = seq
    counts.deliveries += 1
  }
}

function fault(text: string): void {
  if (faults.length < FAULTS_MAX) faults.push(text)
}

/** Reports once that every subscriber is live and has an event. */
function tellReached(): void {
  if (!subscribers.every(({ seq, live }) => live && seq >= state.reach)) return
  state.reach = Infinity
  tell({ is: 'reached' })
}

function tell(report: CrowdReport): void {
  parentPort?.postMessage(report)
}

parentPort?.on('message', (order: CrowdOrder) => {
  if (order.is === 'reach') {
    state.reach = order.seq
    tellReached()
  } else if (order.is === 'drop') {
    const connections = subscribers.filter(({ socket }) => socket?.destroyed === false).length
    for (const subscriber of subscribers) subscriber.live = false
    relay.cut()
    tell({ is: 'dropped', connections })
  } else {
    state.ended = true
    for (const { socket } of subscribers) socket?.destroy()
    void relay[Symbol.asyncDispose]().then(() => tell({ is: 'ended', lines, faults, counts }))
  }
})
for (const subscriber of subscribers) open(subscriber)
