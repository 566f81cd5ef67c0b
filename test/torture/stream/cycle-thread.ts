import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { type Random, randomOf } from '../../../sim/random.ts'
import { resetConnection } from '../history/reset-connection.ts'

/** Order to the thread: connections to a port from so many callers. Cycles are numbered from `first`. */
export type CycleOrder = Readonly<{ port: number; first: number; cycles: number; callers: number }>

export const CYCLE_ENDS = ['fin', 'rst', 'half-close', 'mid-header', 'mid-event'] as const
type CycleEnd = (typeof CYCLE_ENDS)[number]

/** Counts of the ends that the cycles came to. */
export type CycleReport = Readonly<{
  ends: Readonly<Record<CycleEnd, number>>
  streams: number
  refused: number
  late: number
}>

/** Cycles at a time. */
export const CYCLE_LANES = 24
/** Callers have the loopback addresses from this one on. */
const FIRST_CALLER = [127, 16] as const
const MS_MAX = 20_000
const REQUESTS = ['/api/v1/stream', '/api/v1/stream?details=1&type=trade', '/live'] as const

/** Loopback address of a caller. */
export function callerAddress(caller: number): string {
  return `${FIRST_CALLER[0]}.${FIRST_CALLER[1] + (caller >> 16)}.${(caller >> 8) & 255}.${caller & 255 || 255}`
}

type Counts = { ends: Record<CycleEnd, number>; streams: number; refused: number; late: number }

function leave(socket: Socket, random: Random): void {
  if (random.chance(0.5)) socket.destroy()
  else resetConnection(socket)
}

/** One connection from its start to its end. */
function cycle(random: Random, from: string, port: number, end: CycleEnd, counts: Counts): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
  const late = setTimeout(() => {
    counts.late += 1
    socket.destroy()
  }, MS_MAX)
  let said = ''
  let left = false
  socket.on('error', () => undefined)
  socket.once('end', () => socket.end())
  socket.once('close', () => {
    clearTimeout(late)
    if (said.startsWith('HTTP/1.1 200')) counts.streams += 1
    else if (said !== '') counts.refused += 1
    if (left) counts.ends[end] += 1
    resolve()
  })
  const target = end === 'mid-event' ? '/api/v1/stream?after=0&details=1' : random.pick(REQUESTS)
  const request = `GET ${target} HTTP/1.1\r\nHost: daybook.test\r\n\r\n`
  socket.once('connect', () => {
    if (end !== 'mid-header') return void socket.write(request)
    left = true
    socket.write(request.slice(0, random.below(request.length - 1)), () => leave(socket, random))
  })
  socket.on('data', (bytes: Buffer) => {
    said = said.length < 4_000 ? said + bytes.toString('latin1') : said
    if (left || !said.includes('"seq":')) return
    // The bytes of one turn end anywhere; the rest is on its way.
    left = true
    if (end === 'half-close') socket.end()
    else if (end === 'fin') socket.destroy()
    else if (end === 'rst') resetConnection(socket)
    else leave(socket.pause(), random)
  })
  return promise
}

async function run({ port, first, cycles, callers }: CycleOrder, seed: string): Promise<CycleReport> {
  const ends = Object.fromEntries(CYCLE_ENDS.map((end) => [end, 0])) as Record<CycleEnd, number>
  const counts: Counts = { ends, streams: 0, refused: 0, late: 0 }
  let next = first
  const lane = async (): Promise<void> => {
    while (next < first + cycles) {
      const number = next
      next += 1
      const random = randomOf(`${seed} ${number}`)
      const end = CYCLE_ENDS[number % CYCLE_ENDS.length] ?? 'fin'
      await cycle(random, callerAddress(number % callers), port, end, counts)
    }
  }
  await Promise.all(Array.from({ length: CYCLE_LANES }, lane))
  return counts
}

parentPort?.on('message', (order: CycleOrder) => {
  void run(order, String(workerData)).then((report) => parentPort?.postMessage(report))
})
