import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { randomOf } from '../../../sim/random.ts'
import type { Discord, Visit } from './history.ts'
import { resetConnection } from './reset-connection.ts'

/** Settings of the thread. */
export type SubscriberSettings = Readonly<{
  seed: string
  subscribers: number
  /** Mean time between two hops of a subscriber. */
  hopMs: number
  /** Whether some subscribers ask for one type of events, and some for details. */
  filters?: boolean
}>

/** Orders to the thread. A node without an address is down. */
export type SubscriberOrder =
  | Readonly<{ is: 'nodes'; urls: readonly (readonly [node: string, url: string | null])[] }>
  | Readonly<{ is: 'cut'; share: number }>
  | Readonly<{ is: 'head'; seq: number }>
  | Readonly<{ is: 'end' }>

/** Answers of the thread. */
export type SubscriberReport =
  | Readonly<{ is: 'cut'; streams: number }>
  /** Subscribers that have not yet received the event of the last `head`. */
  | Readonly<{ is: 'behind'; subscribers: number; lowest: number }>
  | Readonly<{
      is: 'end'
      visits: readonly Visit[]
      firstLines: readonly (readonly [number, string])[]
      discords: readonly Discord[]
      firstSeenMs: readonly (readonly [number, number])[]
      firstDetails: readonly (readonly [number, string])[]
      bare: readonly number[]
      counts: Readonly<
        Record<'deliveries' | 'hops' | 'lookups' | 'unavailable' | 'comments' | 'details', number>
      >
    }>

const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 400
const BEHIND_EVERY_MS = 100
/** Share of the events that are looked up at `/events/{seq}` of the same node, and of any node. */
const LOOKED_UP = 0.002
const LOOKUP_MS_MAX = 10_000
const ADDRESSES = 250
const DISCORDS_MAX = 100
const TYPES = ['play', 'contest', 'payout'] as const
/** One in so many subscribers has a filter, and the next one asks for details. */
const FILTER_EVERY = 5

const port = parentPort
const settings = workerData as SubscriberSettings
const random = randomOf(settings.seed)
const first = new Map<number, string>()
const firstSeenMs = new Map<number, number>()
const firstDetails = new Map<number, string>()
const bare = new Set<number>()
const discords: Discord[] = []
const visits: Visit[] = []
const counts = { deliveries: 0, hops: 0, lookups: 0, unavailable: 0, comments: 0, details: 0 }
let nodes: readonly (readonly [string, string])[] = []
let ended = false

type Run = { from: number; to: number }
type Subscriber = {
  readonly number: number
  readonly type: string | null
  readonly hasDetails: boolean
  cursor: number
  /** Details whose event comes next. */
  details: Readonly<{ seq: number; line: string }> | null
  socket: Socket | null
  timer: NodeJS.Timeout | undefined
}

const subscribers: readonly Subscriber[] = Array.from({ length: settings.subscribers }, (_, number) => ({
  number,
  type: settings.filters === true && number % FILTER_EVERY === 0 ? random.pick(TYPES) : null,
  hasDetails: settings.filters === true && number % FILTER_EVERY <= 1,
  cursor: 0,
  details: null,
  socket: null,
  timer: undefined,
}))

function later(subscriber: Subscriber, ms: number): void {
  clearTimeout(subscriber.timer)
  if (!ended) subscriber.timer = setTimeout(() => hop(subscriber), ms)
}

/** Leaves the present stream at whatever byte it is, and opens one at another node after the cursor. */
function hop(subscriber: Subscriber): void {
  subscriber.socket?.destroy()
  subscriber.socket = null
  if (ended) return
  const [node, url] = nodes[random.below(nodes.length)] ?? []
  if (node === undefined || url === undefined) return later(subscriber, RETRY_MS_MAX)
  counts.hops += 1
  later(subscriber, random.exponential(settings.hopMs))
  visit(subscriber, node, url)
}

/** Loopback address of a subscriber. An address may have 10 streams at a node. */
function addressOf(number: number): string {
  return `127.1.${Math.floor(number / ADDRESSES)}.${(number % ADDRESSES) + 1}`
}

/** HTTP/1.0 without chunks, and JSON lines: the cheapest stream to read. */
function visit(subscriber: Subscriber, node: string, url: string): void {
  const { hostname, port: at } = new URL(url)
  const runs: Run[] = []
  const { type, hasDetails, cursor } = subscriber
  subscriber.details = null
  const visited = { subscriber: subscriber.number, node, after: cursor, runs, refused: null }
  const filter = `${type === null ? '' : `&type=${type}`}${hasDetails ? '&details=1' : ''}`
  const socket = connect({ host: hostname, port: Number(at), localAddress: addressOf(subscriber.number) })
  subscriber.socket = socket
  let begun: Visit | undefined
  let rest = ''
  socket.setEncoding('latin1')
  socket.on('connect', () =>
    socket.write(
      `GET /api/v1/stream?after=${cursor}${filter} HTTP/1.0\r\nAccept: application/x-ndjson\r\n\r\n`,
    ),
  )
  socket.on('error', () => undefined)
  socket.on('close', () => {
    if (subscriber.socket === socket) later(subscriber, random.between(RETRY_MS_MIN, RETRY_MS_MAX))
  })
  socket.on('data', (text: string) => {
    if (subscriber.socket !== socket) return
    rest += text
    if (begun === undefined) {
      const end = rest.indexOf('\r\n\r\n')
      if (end < 0) return
      const status = Number(rest.slice(9, 12))
      const isBusy = status === 503 || status === 429
      if (isBusy) counts.unavailable += 1
      const refused = status === 200 || isBusy ? null : status
      begun = type === null ? { ...visited, refused } : { ...visited, refused, type }
      visits.push(begun)
      rest = status === 200 ? rest.slice(end + 4) : ''
    }
    rest = take(subscriber, node, url, runs, rest)
  })
}

const DETAILS = /^\{"seq":(\d+),"details":/
const POSITION = /^\{"position":\{"seq":(\d+)/

function noteDetails(node: string, { seq, line }: Readonly<{ seq: number; line: string }>): void {
  counts.details += 1
  const known = firstDetails.get(seq)
  if (known === undefined) firstDetails.set(seq, line)
  else if (known !== line) disagree({ seq, node, what: 'other details in the stream' })
}

/** Takes the whole lines of a text, and returns what is left of it. */
function take(subscriber: Subscriber, node: string, url: string, runs: Run[], text: string): string {
  let from = 0
  for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
    const line = text.slice(from, to)
    from = to + 1
    const details = DETAILS.exec(line)
    if (details !== null) {
      // A cut between the two lines brings both again.
      subscriber.details = { seq: Number(details[1]), line }
      noteDetails(node, subscriber.details)
    } else if (line.startsWith('{"seq":')) receive(subscriber, node, url, runs, line)
    else {
      counts.comments += 1
      const scanned = subscriber.type === null ? null : POSITION.exec(line)
      if (scanned !== null) subscriber.cursor = Math.max(subscriber.cursor, Number(scanned[1]))
    }
  }
  return text.slice(from)
}

function receive(subscriber: Subscriber, node: string, url: string, runs: Run[], line: string): void {
  const seq = Number.parseInt(line.slice(7), 10)
  counts.deliveries += 1
  if (!firstSeenMs.has(seq)) firstSeenMs.set(seq, Date.now())
  if (subscriber.hasDetails && subscriber.details?.seq !== seq) bare.add(seq)
  const run = runs.at(-1)
  if (run?.to === seq - 1) run.to = seq
  else runs.push({ from: seq, to: seq })
  subscriber.cursor = seq
  const known = first.get(seq)
  if (known === undefined) first.set(seq, line)
  else if (known !== line) disagree({ seq, node, what: 'another line in the stream' })
  if (random.chance(LOOKED_UP)) void lookUp(seq, node, url, line)
  const [other, otherUrl] = nodes[random.below(nodes.length)] ?? []
  // Another node may lack the event for a moment. It then waits, and never says that there is none.
  if (other !== undefined && otherUrl !== undefined && random.chance(LOOKED_UP))
    void lookUp(seq, other, otherUrl, line)
}

function disagree(discord: Discord): void {
  if (discords.length < DISCORDS_MAX) discords.push(discord)
}

/** Asks a node for an event that a stream has shown. A node that is down in the meantime proves nothing. */
async function lookUp(seq: number, node: string, url: string, line: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(LOOKUP_MS_MAX)
    const response = await fetch(`${url}/api/v1/events/${seq}`, { signal })
    const body = await response.text()
    if (response.status === 503) return
    counts.lookups += 1
    if (response.status !== 200) disagree({ seq, node, what: `/events/{seq} answers ${response.status}` })
    else if (body.trimEnd() !== line) disagree({ seq, node, what: 'another line at /events/{seq}' })
  } catch {
    // The node or its network is down.
  }
}

/** Tells how many subscribers lack an event, until all have it. */
function tellBehind(seq: number): void {
  const lacking = subscribers.filter(({ cursor }) => cursor < seq)
  const lowest = Math.min(seq, ...lacking.map(({ cursor }) => cursor))
  tell({ is: 'behind', subscribers: lacking.length, lowest })
  if (lacking.length > 0 && !ended) setTimeout(() => tellBehind(seq), BEHIND_EVERY_MS)
}

function tell(report: SubscriberReport): void {
  port?.postMessage(report)
}

function cut(share: number): void {
  const open = subscribers.filter(({ socket }) => socket !== null && random.chance(share))
  for (const { socket } of open) if (socket !== null) resetConnection(socket)
  tell({ is: 'cut', streams: open.length })
}

port?.on('message', (order: SubscriberOrder) => {
  if (order.is === 'nodes') {
    const isFirst = nodes.length === 0
    nodes = order.urls.flatMap(([node, url]) => (url === null ? [] : [[node, url] as const]))
    if (isFirst) for (const subscriber of subscribers) later(subscriber, random.below(RETRY_MS_MAX))
  } else if (order.is === 'cut') cut(order.share)
  else if (order.is === 'head') tellBehind(order.seq)
  else {
    ended = true
    for (const { socket, timer } of subscribers) {
      clearTimeout(timer)
      socket?.destroy()
    }
    tell({
      is: 'end',
      visits,
      firstLines: [...first],
      discords,
      firstSeenMs: [...firstSeenMs],
      firstDetails: [...firstDetails],
      bare: [...bare],
      counts,
    })
    port.close()
  }
})
