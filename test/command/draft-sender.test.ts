import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { type DraftSender, openTroubleReport, sendRows } from '../../src/command/publish/draft-sender.ts'
import { contextOf } from '../stage/command-stage.ts'
import { openAddressChoice } from '../../src/command/publish/publish-client.ts'

/** Answer of the publish API to one request: accepted, a refusal, one that breaks off after its first byte, an end, or none. */
type Answer =
  | 'accepted'
  | 'breaks off'
  | 'hangs up'
  | 'says nothing'
  | Readonly<{ status: number; retryAfter?: string; body?: object }>

const refused = (draft: number, more: object = {}): Answer => ({
  status: 409,
  body: { detail: 'refused', errors: [{ draft, field: 'kots', message: 'is not there' }], ...more },
})

/** Time in which a publish API with a fallback must answer. */
const ANSWER_MS = 3_000
/** Nothing listens on the discard port. */
const AWAY = 'http://127.0.0.1:9'

/** Sends rows `a`, `b`, … to a publish API that gives these answers in turn, and then accepts everything. */
async function send(
  names: string,
  answers: readonly Answer[],
  ...fallbacks: readonly string[]
): Promise<
  Readonly<{ asked: readonly string[]; settled: string; end: object; said: string; waits: readonly number[] }>
> {
  const left = [...answers]
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.end()
    const lines = (await text(request)).split('\n')
    asked.push(lines.join(''))
    const answer = left.shift() ?? 'accepted'
    if (answer === 'says nothing') return
    if (answer === 'hangs up') return void response.destroy()
    if (answer === 'breaks off') {
      response.writeHead(200, { 'content-length': 99 })
      return void response.write('{', () => request.socket.end())
    }
    if (answer === 'accepted') {
      const drafts = lines.map((ref, index) => ({ ref, status: 'published', seq: index + 1 }))
      return void response.end(JSON.stringify({ drafts }))
    }
    response.writeHead(
      answer.status,
      answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter },
    )
    response.end(JSON.stringify(answer.body ?? { detail: 'not now' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const to = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...fallbacks].join(',')
  const heard: string[] = []
  const context = contextOf({ stderr: { write: (line: string) => heard.push(line) } as never })
  const addresses = openAddressChoice(to, context)
  const access = { addresses, token: 'token', log: null, stop: context.stop, answerMs: ANSWER_MS }
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => void waits.push(ms)
  const sender: DraftSender = { access, trouble: openTroubleReport(context), wait }
  let settled = ''
  const rows = names.split('').map((name) => ({ name: `row ${name}`, line: name }))
  const end = await sendRows(sender, rows, async (taken, receipts) => {
    assert.equal(taken.length, receipts.length)
    settled += taken.map(({ line }) => line).join('')
  })
  server.closeAllConnections()
  server.close()
  return { asked, settled, end, said: heard.join(''), waits }
}

suite('rows for the publish API', () => {
  test('are sent up to a refused one, which is then sent alone and stops the rest', async () => {
    const { asked, settled, end } = await send('abcd', [refused(2), 'accepted', refused(0)])
    assert.deepEqual(asked, ['abcd', 'ab', 'c'])
    assert.equal(settled, 'ab')
    assert.deepEqual(end, { is: 'refused', reason: 'row c, kots: is not there', otherLog: null })
  })

  test('are named with the refused one when the publish API refused them too', async () => {
    const errors = [1, 3].map((draft) => ({ draft, field: 'kots', message: `is bad in ${draft}` }))
    const { settled, end } = await send('abcd', [{ status: 400, body: { errors } }, 'accepted', refused(0)])
    assert.equal(settled, 'a')
    const reason = 'row b, kots: is not there; row d, kots: is bad in 3'
    assert.deepEqual(end, { is: 'refused', reason, otherLog: null })
  })

  test('go on with the rest when the refused one is accepted alone', async () => {
    const { asked, settled, end } = await send('abcd', [refused(2)])
    assert.deepEqual(asked, ['abcd', 'ab', 'c', 'd'])
    assert.deepEqual([settled, end], ['abcd', { is: 'sent' }])
  })

  test('wait while a refusal may pass because drafts are held, and say so once', async () => {
    const held = refused(0, { held: 2 })
    const { asked, settled, said } = await send('ab', [refused(0), held, held])
    assert.deepEqual(asked, ['ab', 'a', 'a', 'a', 'b'])
    assert.equal(settled, 'ab')
    assert.equal(
      said,
      'row a, kots: is not there; waiting for held drafts (2)\nthe publish API takes drafts again\n',
    )
  })

  test('are sent again while the publish API is away, full, busy or failing', async () => {
    const statuses = [503, 507, 429, 500, 502].map((status) => ({ status }))
    const away: readonly Answer[] = ['hangs up', 'breaks off', ...statuses]
    for (const answer of away) {
      const { asked, settled, said } = await send('ab', [answer])
      assert.deepEqual([asked, settled], [['ab', 'ab'], 'ab'])
      assert.match(said, /; trying again\nthe publish API takes drafts again\n$/)
    }
  })

  test('are sent again in halves when a request does not arrive in time, and one row without end', async () => {
    const stopped: Answer = { status: 408 }
    const { asked, settled, said } = await send('abcd', [stopped, stopped, stopped])
    assert.deepEqual([asked, settled], [['abcd', 'ab', 'a', 'a', 'b', 'c', 'd'], 'abcd'])
    assert.match(said, / did not get the whole request in time; trying again\nthe publish API takes/)
  })

  test('are sent again in halves when a publish API with a fallback is silent, although the fallback is away', async () => {
    const { asked, settled, said } = await send('ab', ['says nothing'], AWAY)
    assert.deepEqual([asked, settled], [['ab', 'a', 'b'], 'ab'])
    assert.match(said, / did not answer within 3 s; .* cannot be reached; trying again\n/)
  })

  test('wait as long as the publish API asks, and else twice as long each time', async () => {
    const { settled, waits } = await send('a', [
      { status: 503 },
      { status: 503, retryAfter: '7' },
      { status: 503 },
    ])
    assert.deepEqual([settled, waits], ['a', [500, 7_000, 2_000]])
  })

  test('wait 30 s at most for a publish API that is away, 5 s for held drafts, and a minute if the publish API asks for more', async () => {
    const many = Array.from({ length: 9 }, (): Answer => ({ status: 503 }))
    assert.equal((await send('a', many)).waits.at(-1), 30_000)
    const held = Array.from({ length: 5 }, () => refused(0, { held: 1 }))
    assert.equal((await send('a', held)).waits.at(-1), 5_000)
    assert.deepEqual((await send('a', [{ status: 503, retryAfter: '600' }])).waits, [60_000])
  })

  test('stop at a refusal that names no row, such as that of a wrong token', async () => {
    const { settled, end } = await send('ab', [
      { status: 401, body: { detail: 'a valid token is required' } },
    ])
    assert.deepEqual(
      [settled, end],
      ['', { is: 'refused', reason: 'a valid token is required', otherLog: null }],
    )
  })

  test('are sent in halves when a request is too large', async () => {
    const large: Answer = { status: 413 }
    const { asked, settled } = await send('abcde', [large, large])
    assert.deepEqual([asked, settled], [['abcde', 'abc', 'ab', 'cd', 'e'], 'abcde'])
    const { end } = await send('a', [{ status: 413, body: { detail: 'too large' } }])
    assert.deepEqual(end, { is: 'refused', reason: 'too large', otherLog: null })
  })
})

suite('a trouble that lasts', () => {
  test('is reported at its beginning, each minute, and at its end', () => {
    const said: string[] = []
    let now = 0
    const report = openTroubleReport(
      contextOf({ monotonicMs: () => now, stderr: { write: (line: string) => said.push(line) } as never }),
    )
    report.over('never began')
    for (; now < 130_000; now += 10_000) report.lasts(`away at ${now / 1_000}`)
    report.over('over')
    report.over('over')
    assert.deepEqual(said, ['away at 0\n', 'away at 60\n', 'away at 120\n', 'over\n'])
  })
})
