import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An address and the expected body of its answer. */
export type Target = Readonly<{ path: string; body: Buffer }>

/** Callers. Each has its own address and one connection, and waits for each answer. */
export const CALLERS = 16

/**
 * Sends `requests` requests, repeating the targets in order, and compares every body with the expected one. Rejects at
 * the first difference.
 */
export async function load(port: number, targets: readonly Target[], requests: number): Promise<void> {
  const asked = targets.map(({ path, body }) => ({ request: requestOf(path), path, body }))
  let next = 0
  const draw = (): PreparedTarget | undefined => (next < requests ? asked[next++ % asked.length] : undefined)
  await Promise.all(Array.from({ length: CALLERS }, () => call(port, nextAddress(), draw)))
}

let addresses = 0

/** Different addresses for each load, so that no allowance is used up. */
function nextAddress(): string {
  const number = addresses++ % 60_000
  return `127.0.${1 + Math.floor(number / 250)}.${1 + (number % 250)}`
}

type PreparedTarget = Target & Readonly<{ request: Buffer }>

function requestOf(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nUser-Agent: bench\r\n\r\n`)
}

/** One caller: sends the next request after each answer, and reconnects when the server announces that it closes. */
async function call(
  port: number,
  localAddress: string,
  draw: () => PreparedTarget | undefined,
): Promise<void> {
  let going = true
  while (going) {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    await once(socket, 'connect')
    going = await talk(socket, draw)
    socket.destroy()
  }
}

/** Resolves with whether targets are left for another connection. */
function talk(socket: Socket, draw: () => PreparedTarget | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let asked: PreparedTarget | undefined
    let closing = false
    /** Bytes of the body; -1 until the head is complete. */
    let taken = -1
    let head: Buffer = Buffer.alloc(0)
    const ask = (): void => {
      taken = -1
      if (closing) {
        resolve(true)
        return
      }
      asked = draw()
      if (asked === undefined) resolve(false)
      else socket.write(asked.request)
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection without saying so')))
    socket.on('data', (chunk: Buffer) => {
      try {
        if (asked === undefined) throw new Error('an answer that nobody asked for')
        let body = chunk
        if (taken < 0) {
          head = head.byteLength === 0 ? chunk : Buffer.concat([head, chunk])
          const end = head.indexOf('\r\n\r\n')
          if (end < 0) return
          closing = readHead(head.toString('latin1', 0, end), asked)
          body = head.subarray(end + 4)
          head = head.subarray(0, 0)
          taken = 0
        }
        if (!asked.body.subarray(taken, taken + body.byteLength).equals(body))
          throw new Error(`${asked.path}: other bytes`)
        taken += body.byteLength
        if (taken === asked.body.byteLength) ask()
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    ask()
  })
}

/** Whether the connection closes after this answer. Throws unless it is a 200 of the expected length. */
function readHead(head: string, { path, body }: PreparedTarget): boolean {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (!head.startsWith('HTTP/1.1 200 ') || Number(length) !== body.byteLength) {
    throw new Error(`${path}: ${head.slice(0, 400)}, not ${body.byteLength} bytes`)
  }
  return /\r\nconnection: close/i.test(head)
}
