import type { Socket } from 'node:net'
import { createServer } from 'node:http'

/** The least that Node can do: for each event one write of the same bytes per subscriber. */

const sockets: Socket[] = []
let published = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    response.write('retry: 3000\n\n')
    sockets.push(request.socket)
    request.socket.once('close', () => sockets.splice(sockets.indexOf(request.socket), 1))
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => {
    const frame = `id: ${++published}\ndata: ${Buffer.concat(chunks).toString()}\n\n`
    const bytes = Buffer.from(`${frame.length.toString(16)}\r\n${frame}\r\n`, 'latin1')
    for (const socket of sockets) socket.write(bytes)
    response.end()
  })
})
server.requestTimeout = 0
server.listen({ host: '127.0.0.1', port: 0, backlog: 2_048 }, () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port')
  process.stdout.write(`listening on http://127.0.0.1:${address.port}\n`)
})
