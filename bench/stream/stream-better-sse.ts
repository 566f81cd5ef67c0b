import { createServer } from 'node:http'
import { createChannel, createSession } from 'better-sse'

/** The example of better-sse: a channel, a session for each subscriber, and a broadcast for each posted line. */

const channel = createChannel()
let published = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    // The line is JSON already.
    void createSession(request, response, { serializer: String }).then((session) => channel.register(session))
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => {
    channel.broadcast(Buffer.concat(chunks).toString(), 'message', { eventId: String(++published) })
    response.end()
  })
})
server.requestTimeout = 0
server.listen({ host: '127.0.0.1', port: 0, backlog: 2_048 }, () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port')
  process.stdout.write(`listening on http://127.0.0.1:${address.port}\n`)
})
