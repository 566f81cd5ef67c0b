import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { suite, test } from 'node:test'
import { openRequestIds } from '../http/request-ids.ts'
import { problemReply, type Reply, type Route } from '../http/route.ts'
import { ANSWER_MS_MAX, openAnswerDeadlines } from './answer-deadlines.ts'
import { openExchange } from './exchange.ts'
import { openUnreadAnswers } from './unread-answers.ts'

/** More than the kernel buffers for a caller that does not read. */
const LARGE_BYTES = 32 * 1024 * 1024

/** Far longer than the time between two looks at the answers. */
const CLOSE_MS_MAX = 20_000

const route: Route = {
  path: '/stream',
  parameters: [],
  allowance: 'none',
  streaming: true,
  handle: () => ({ is: 'taken' }),
}

const BODIES: readonly (readonly [name: string, reply: Reply])[] = [
  ['a problem', problemReply({ code: 'not-found', detail: 'x'.repeat(LARGE_BYTES) })],
  [
    'a body',
    { is: 'body', keep: 'no-store', etag: null, type: 'text/plain', body: Buffer.alloc(LARGE_BYTES, 'x') },
  ],
]

suite('a short answer of a streaming route', () => {
  for (const [name, reply] of BODIES) {
    test(`counts as unread and is dropped at the time limit: ${name}`, async (t) => {
      let nowMs = 0
      const monotonicMs = (): number => nowMs
      const [unread, deadlines] = [openUnreadAnswers(), openAnswerDeadlines(monotonicMs)]
      const exchange = openExchange({
        steps: [() => reply],
        refuse: (_visit, problem) => problemReply(problem),
        chargeRows: () => undefined,
        fail: (_visit, error) => assert.fail(String(error)),
        report: { all: false, answered: () => undefined, cut: () => undefined },
        deadlines,
        unread,
        monotonicMs,
      })
      const common = {
        revalidated: false,
        common: [],
        allowance: [],
        request: 1,
        requestIds: openRequestIds('t'),
      }
      const asked = {
        head: false,
        ifNoneMatch: undefined,
        acceptEncoding: undefined,
        problemBase: '/problems',
      }
      const server = createServer((request, response) =>
        exchange({
          request,
          response,
          caller: 'one',
          path: '/stream',
          rawQuery: '',
          found: { route, segments: {} },
          underApi: true,
          decision: undefined,
          tally: { add: () => undefined },
          terms: { ...common, ...asked },
        }),
      ).listen(0, '127.0.0.1')
      t.after(() => {
        server.closeAllConnections()
        server.close()
      })
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const socket = connect(port, '127.0.0.1').pause()
      t.after(() => socket.destroy())
      const begun = once(server, 'request')
      socket.write('GET /stream HTTP/1.1\r\nHost: daybook.test\r\n\r\n')
      const response: ServerResponse = (await begun)[1]
      assert.ok(unread.bytes() > LARGE_BYTES)
      const closed = once(response, 'close', { signal: AbortSignal.timeout(CLOSE_MS_MAX) })
      nowMs = ANSWER_MS_MAX
      await closed
      assert.equal(unread.bytes(), 0)
    })
  }
})
