import { once } from 'node:events'
import { connect } from 'node:net'

/** Opens a stream from a loopback address: status of the stream, which stays open, or of its refusal. */
export async function openStreamFrom(
  port: number,
  from: string,
): Promise<Disposable & Readonly<{ status: number }>> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.on('error', () => undefined)
  socket.write('GET /api/v1/stream HTTP/1.1\r\nHost: daybook.test\r\n\r\n')
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return { status: Number(bytes.toString('latin1', 9, 12)), [Symbol.dispose]: () => socket.destroy() }
}
