import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An address and the expected body of its answer. */
export type Target = Readonly<{ path: string; body: Buffer }>

/** Callers. Each has its own address and one connection, and waits for each answer. */
const CALLERS = 16

/**
 * Sends `requests` requests, repeating the targets in order, and compares every body with the expected one. Rejects at
 * the first difference.
 */
export async function load(port: number, targets: readonly Target[], requests: number): Promise<void> {
  let next = 0
  const draw = (): Target | undefined => (next < requests ? targets[next++ % targets.length] : undefined)
  const call = async (caller: number): Promise<void> => {
    // Reconnects when the server announces that it closes.
    for (let isLeft = true; isLeft;) {
      const socket = connect({
        port,
        host: '127.0.0.1',
        localAddress: `127.0.1.${1 + caller}`,
        noDelay: true,
      })
      await once(socket, 'connect')
      isLeft = await talk(socket, draw)
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)))
}

/** Sends each request after the answer before it. Resolves with whether targets are left for another connection. */
function talk(socket: Socket, draw: () => Target | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let asked: Target | undefined
    let isClosing = false
    /** Bytes of the body so far; -1 until the head is complete. */
    let taken = -1
    let head: Buffer = Buffer.alloc(0)
    const ask = (): void => {
      taken = -1
      asked = isClosing ? undefined : draw()
      if (asked === undefined) resolve(isClosing)
      else
        socket.write(
          `GET ${asked.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nUser-Agent: bench\r\n\r\n`,
        )
    }
    const take = (chunk: Buffer): void => {
      if (asked === undefined) throw new Error('an answer that nobody asked for')
      let body = chunk
      if (taken < 0) {
        head = head.byteLength === 0 ? chunk : Buffer.concat([head, chunk])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        isClosing = readHead(head.toString('latin1', 0, end), asked)
        body = head.subarray(end + 4)
        head = head.subarray(0, 0)
        taken = 0
      }
      if (!asked.body.subarray(taken, taken + body.byteLength).equals(body))
        throw new Error(`${asked.path}: other bytes`)
      taken += body.byteLength
      if (taken === asked.body.byteLength) ask()
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection without saying so')))
    socket.on('data', (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        reject(error)
      }
    })
    ask()
  })
}

/** Whether the connection closes after this answer. Throws unless it is a 200 of the expected length. */
function readHead(head: string, { path, body }: Target): boolean {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (!head.startsWith('HTTP/1.1 200 ') || Number(length) !== body.byteLength) {
    throw new Error(`${path}: ${head.slice(0, 400)}, not ${body.byteLength} bytes`)
  }
  return /\r\nconnection: close/i.test(head)
}
