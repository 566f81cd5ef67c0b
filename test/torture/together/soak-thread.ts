import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { randomOf } from '../../../sim/random.ts'
import type { SoakLoad, SoakReport } from './soak-clients.ts'
import { resetConnection } from '../history/reset-connection.ts'

const load = workerData as SoakLoad
const random = randomOf(`${load.seed} readers`)
const GETS_AT_ONCE_MAX = 64
const GET_MS_MAX = 20_000
const ADDRESSES = 250
const TICK_MS = 50
/** A stream begins up to so many events before the head. */
const BEHIND_MAX = 300
const WRONG_MAX = 20
/** A slow reader takes in a piece this often. */
const SLOW_MS = 2_000
/** `dead` reads nothing and never closes, as behind a dead link. `reset` ends with RST after a moment. */
const KINDS = [
  ['healthy', 80],
  ['slow', 10],
  ['dead', 5],
  ['reset', 5],
] as const
const RESET_MS_MAX = 2_000
const PATHS = [
  '/',
  '/contests',
  '/stream',
  '/api/v1/summary',
  '/api/v1/status',
  '/api/v1/events?limit=100',
  '/api/v1/events?order=desc&limit=20',
  '/api/v1/contests?limit=20',
  '/api/v1/funds',
  '/api/v1/flows?bucket=hour',
  '/api/v1/event-types',
  '/api/v1/log/checkpoint',
  '/api/v1/archive/SHA256SUMS',
] as const

let { head } = load
let isCalm = false
const sockets = new Set<Socket>()
const wrong: string[] = []
const counts = { opened: 0, refused: 0, delivered: 0, gets: 0, unavailable: 0, skipped: 0 }
let getMs: number[][] = load.urls.map(() => [])
let underWay = 0

function note(what: string): void {
  if (wrong.length < WRONG_MAX) wrong.push(what)
}

/** Opens a stream. A healthy reader checks that no seq is missing or comes twice. */
function openStream(number: number): void {
  const url = new URL(load.urls[random.below(load.urls.length)] ?? '')
  const kind = random.weighted(KINDS)
  const after = Math.max(0, head - random.below(BEHIND_MAX))
  const localAddress = `127.2.${Math.floor(number / ADDRESSES) % ADDRESSES}.${(number % ADDRESSES) + 1}`
  const socket = connect({ host: url.hostname, port: Number(url.port), localAddress })
  sockets.add(socket)
  const end = (): void => void (kind === 'reset' ? resetConnection(socket) : socket.destroy())
  const lifeMs = kind === 'reset' ? random.below(RESET_MS_MAX) : random.exponential(load.streamMs)
  const timers = [setTimeout(end, lifeMs)]
  socket.on('connect', () => {
    socket.write(`GET /api/v1/stream?after=${after} HTTP/1.0\r\nAccept: application/x-ndjson\r\n\r\n`)
    if (kind === 'slow')
      timers.push(
        setInterval(() => {
          socket.resume()
          setTimeout(() => socket.pause(), 1)
        }, SLOW_MS),
      )
    if (kind === 'slow' || kind === 'dead') socket.pause()
    counts.opened += 1
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    for (const timer of timers) clearTimeout(timer)
    sockets.delete(socket)
  })
  readLines(socket, after)
}

function readLines(socket: Socket, after: number): void {
  let cursor = after
  let rest = ''
  let hasBegun = false
  socket.setEncoding('latin1').on('data', (text: string) => {
    rest += text
    if (!hasBegun) {
      const at = rest.indexOf('\r\n\r\n')
      if (at < 0) return
      hasBegun = true
      const status = Number(rest.slice(9, 12))
      if (status !== 200) counts.refused += 1
      if (status !== 200 && status !== 429 && status !== 503) note(`a stream is answered with ${status}`)
      rest = status === 200 ? rest.slice(at + 4) : ''
    }
    let from = 0
    for (let to = rest.indexOf('\n'); to >= 0; to = rest.indexOf('\n', from)) {
      if (rest.startsWith('{"seq":', from)) {
        const seq = Number.parseInt(rest.slice(from + 7, from + 20), 10)
        if (seq !== cursor + 1) note(`a stream showed ${seq} after ${cursor}`)
        cursor = seq
        counts.delivered += 1
      }
      from = to + 1
    }
    rest = rest.slice(from)
  })
}

async function ask(): Promise<void> {
  if (underWay >= GETS_AT_ONCE_MAX) {
    counts.skipped += 1
    return
  }
  const node = random.below(load.urls.length)
  const path =
    random.chance(0.3) && head > 0 ? `/api/v1/events/${random.between(1, head)}` : random.pick(PATHS)
  const begun = performance.now()
  underWay += 1
  const status = await statusOf(`${load.urls[node]}${path}`).catch(() => null)
  underWay -= 1
  counts.gets += 1
  if (status === 200) getMs[node]?.push(performance.now() - begun)
  else if (status === null || status === 429 || status === 503) counts.unavailable += 1
  // A mirror may lack an event for a moment that the head of its origin has.
  else note(`${path} is answered with ${status}`)
}

/** Status of an answer, when it has come whole. */
async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(GET_MS_MAX) })
  await answer.arrayBuffer()
  return answer.status
}

let [opensDue, getsDue, last, number] = [0, 0, performance.now(), 0]
const ticking = setInterval(() => {
  const now = performance.now()
  const seconds = (now - last) / 1_000
  last = now
  if (isCalm) return
  opensDue += load.opensPerSecond * seconds
  getsDue += load.getsPerSecond * seconds
  for (; opensDue >= 1; opensDue -= 1) openStream((number += 1))
  for (; getsDue >= 1; getsDue -= 1) void ask()
}, TICK_MS)

parentPort?.on('message', (order: 'calm' | Readonly<{ head: number }>) => {
  if (order === 'calm') {
    isCalm = true
    clearInterval(ticking)
    for (const socket of sockets) socket.destroy()
    return
  }
  head = order.head
  const report: SoakReport = { ...counts, getMs, open: sockets.size, wrong }
  parentPort?.postMessage(report)
  getMs = load.urls.map(() => [])
})
