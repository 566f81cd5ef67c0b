import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Way } from './fairness-attacks.ts'

// Runs an attack in its own process. Reads the plan as JSON from standard input, and prints the counts as JSON after
// `forMs`. Waits for no answer beyond that.

export type AttackPlan = Readonly<{
  port: number
  forMs: number
  way: Way
  /** Source address of each connection, and its requests as sent. */
  connections: readonly Readonly<{ address: string; requests: readonly string[] }>[]
}>

/** Counts of the answers. */
export type AttackResult = Readonly<{
  answers: number
  byStatus: Readonly<Record<string, number>>
  bytes: number
}>

const HEAD_END = Buffer.from('\r\n\r\n')
const tally = { answers: 0, byStatus: {} as Record<string, number>, bytes: 0 }

const plan = JSON.parse(await text(process.stdin)) as AttackPlan
const sockets = await Promise.all(
  plan.connections.map(async ({ address, requests }) => {
    const socket = connect({ port: plan.port, host: '127.0.0.1', localAddress: address, noDelay: true })
    // A server may close an attacker's connection in any way.
    socket.on('error', () => undefined)
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    return { socket, requests }
  }),
)
for (const { socket, requests } of sockets) begin(socket, requests)
setTimeout(() => {
  for (const { socket } of sockets) socket.destroy()
  process.stdout.write(JSON.stringify(tally satisfies AttackResult))
}, plan.forMs)

function begin(socket: Socket, requests: readonly string[]): void {
  if (plan.way === 'unread') {
    socket.pause()
    socket.write(requests.join(''))
    return
  }
  let next = 0
  const ask = (): void => {
    const request = requests[next++]
    if (request !== undefined && !socket.destroyed) socket.write(request)
  }
  const take = reader(() => {
    tally.answers++
    if (plan.way === 'in turn') ask()
  })
  socket.on('data', take)
  if (plan.way === 'in turn') ask()
  else socket.write(requests.join(''))
}

/** Parses the bytes of a connection and calls back after each complete answer. */
function reader(answered: () => void): (chunk: Buffer) => void {
  /** Bytes of an incomplete head, or of an incomplete chunk length. */
  let held: Buffer = Buffer.alloc(0)
  /** Remaining bytes of the body, or of its chunk. */
  let left = 0
  let isChunked = false
  let inBody = false
  const end = (): void => {
    inBody = false
    answered()
  }
  return (chunk) => {
    tally.bytes += chunk.byteLength
    held = held.byteLength === 0 ? chunk : Buffer.concat([held, chunk])
    for (;;) {
      if (left > 0) {
        const taken = Math.min(left, held.byteLength)
        held = held.subarray(taken)
        left -= taken
        if (left > 0) return
        if (!isChunked) end()
      } else if (inBody && isChunked) {
        const at = held.indexOf('\r\n')
        if (at < 0) return
        const bytes = Number.parseInt(held.toString('latin1', 0, at), 16)
        // A chunk includes its line end. The line end of the last chunk ends the answer.
        if (bytes === 0 && held.byteLength < at + 4) return
        held = held.subarray(at + (bytes === 0 ? 4 : 2))
        if (bytes === 0) end()
        else left = bytes + 2
      } else {
        const at = held.indexOf(HEAD_END)
        if (at < 0) return
        const head = held.toString('latin1', 0, at)
        held = held.subarray(at + HEAD_END.byteLength)
        const status = head.slice(9, 12)
        tally.byStatus[status] = (tally.byStatus[status] ?? 0) + 1
        isChunked = /\r\ntransfer-encoding: chunked/i.test(head)
        left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
        inBody = true
        if (left === 0 && !isChunked) end()
      }
    }
  }
}
