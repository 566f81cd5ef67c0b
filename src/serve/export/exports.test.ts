import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { sendRaw } from '../../../test/stage/raw-request.ts'
import { until } from '../../../test/stage/stream-client.ts'
import { parseMonth } from '../../protocol/moment.ts'

/** Events of the log: thirteen of the story, then long ones. Their CSV has 15 MB; the kernel buffers up to 10 for a connection. */
const HEAD = 7_213
/** An event with some two thousand characters of details. */
const LONG = {
  type: 'loyalty',
  kind: 'input',
  details: {
    month: parseMonth('2026-09') ?? assert.fail(),
    digest: `sha256:${'0'.repeat(64)}`,
    url: `https://daybook.test/${'a'.repeat(1_979)}`,
  },
} as const
/** Bytes that a slow reader takes in a millisecond. */
const BYTES_A_MS = 500
/** Time after which the tests of a stopped reader give a download up: longer than a busy machine stops a test. */
const STALL_MS = 3_000
const WHOLE = '/api/v1/events?format=csv&details=1'
const HEADER = 'seq,type,kind,at,atMs,contestId,kots,tx,details'

/** A download on a bare socket, whose reader stops before the kernel has taken megabytes. */
type Download = Disposable &
  Readonly<{
    text(): string
    bytes(): number
    isWhole(): boolean
    isClosed(): boolean
    resume(): void
    /** Reads about `bytes`, then pauses. */
    readOn(bytes: number): Promise<void>
  }>

function download(port: number, path: string = WHOLE, version = '1.1'): Download {
  const socket = connect({ port, host: '127.0.0.1' })
  const chunks: Buffer[] = []
  let bytes = 0
  let closed = false
  let quota = Infinity
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes >= quota) socket.pause()
  })
  socket.on('error', () => undefined)
  socket.once('close', () => (closed = true))
  socket.write(`GET ${path} HTTP/${version}\r\nHost: daybook.test\r\n\r\n`)
  return {
    text: () => Buffer.concat(chunks).toString('latin1'),
    bytes: () => bytes,
    // Only the last bytes are searched, because the text has megabytes.
    isWhole: () => Buffer.concat(chunks.slice(-3)).toString('latin1').endsWith('\r\n0\r\n\r\n'),
    isClosed: () => closed,
    resume() {
      quota = Infinity
      socket.resume()
    },
    async readOn(more) {
      quota = bytes + more
      socket.resume()
      await until(() => bytes >= quota)
    },
    [Symbol.dispose]: () => socket.destroy(),
  }
}

suite('a whole CSV of /events', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage({ apartMs: 1 })
    stage.append(Array.from({ length: HEAD - 13 }, () => LONG))
  })
  after(async () => {
    assert.deepEqual(stage.reported, [])
    await stage[Symbol.asyncDispose]()
  })

  const scannedTo = async (path: string): Promise<string | null> =>
    (await stage.get(path, {}, 'HEAD')).headers.get('daybook-scanned-to')

  /** Rows of a CSV without its header, by seq. */
  async function seqsOf(path: string): Promise<readonly number[]> {
    const response = await stage.get(path)
    assert.equal(response.status, 200)
    const lines = (await response.text()).split('\r\n')
    assert.equal(lines.shift(), HEADER)
    assert.equal(lines.pop(), '')
    return lines.map((line) => Number(line.split(',', 1)[0]))
  }

  test('has every event up to the head, each once and in order, and names that head at the start', async () => {
    const response = await stage.get(WHOLE)
    assert.equal(response.headers.get('daybook-scanned-to'), String(HEAD))
    assert.equal(response.headers.get('daybook-has-more'), 'false')
    assert.equal(response.headers.get('link'), null)
    assert.equal(
      response.headers.get('content-disposition'),
      `attachment; filename="daybook-events-1-${HEAD}.csv"`,
    )
    await response.body?.cancel()
    const seqs = await seqsOf(WHOLE)
    assert.equal(seqs.length, HEAD)
    assert.ok(seqs.every((seq, index) => seq === index + 1))
  })

  test('has the same bytes as its pages one after another', async () => {
    let path: string | null = '/api/v1/events?after=2000&limit=400&format=csv&details=1'
    const parts: string[] = []
    while (path !== null) {
      const response: Response = await stage.get(path)
      const text = await response.text()
      parts.push(parts.length === 0 ? text : text.slice(HEADER.length + 2))
      path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? null
    }
    const whole = await (await stage.get(`${WHOLE}&after=2000`)).text()
    assert.equal(whole, parts.join(''))
  })

  test('takes every filter, range and order of a page', async () => {
    assert.deepEqual(await seqsOf(`${WHOLE}&type=contest`), [2, 3, 7, 12])
    assert.deepEqual(await seqsOf(`${WHOLE}&contestId=1&nonzero=1`), [4, 5, 6, 8, 9, 10])
    assert.deepEqual(await seqsOf(`${WHOLE}&type=contest&order=desc`), [12, 7, 3, 2])
    assert.deepEqual(await seqsOf(`${WHOLE}&order=desc&before=4`), [3, 2, 1])
    assert.deepEqual(await seqsOf(`${WHOLE}&tx=transaction-0001`), [10])
    assert.deepEqual(await seqsOf(`${WHOLE}&kind=never_was`), [])
    assert.deepEqual(await seqsOf(`${WHOLE}&after=${HEAD}`), [])
    assert.deepEqual(await seqsOf(`${WHOLE}&after=10&to=0`), [])
    for (const [bounds, end] of [
      ['', HEAD],
      ['&order=desc', HEAD],
      ['&order=desc&before=4', 3],
    ] as const)
      assert.equal(await scannedTo(`${WHOLE}${bounds}`), String(end))
  })

  test('has a file name with its filter', async () => {
    const nameOf = async (path: string): Promise<string> => {
      const response = await stage.get(path, {}, 'HEAD')
      return /filename="(.*)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? ''
    }
    assert.equal(
      await nameOf(`${WHOLE}&type=play,pool&contestId=1`),
      `daybook-events-type-play-pool-contestId-1-1-${HEAD}.csv`,
    )
    assert.equal(await nameOf(`${WHOLE}&after=${HEAD}`), 'daybook-events-none.csv')
    assert.equal(await nameOf(`${WHOLE}&limit=4`), 'daybook-events-1-4-part.csv')
    const found = await nameOf('/api/v1/contests?q=words+of+mine&format=csv')
    assert.equal(found, `daybook-contests-search-event-${HEAD}.csv`, 'words of the reader are not repeated')
  })

  test('is the same under the address of the page', async () => {
    const [api, page] = await Promise.all([
      stage.get(`${WHOLE}&after=5000`).then((response) => response.text()),
      stage.get('/events.csv?details=1&after=5000').then((response) => response.text()),
    ])
    assert.equal(page, api)
  })

  test('is whole under the address of the page with format=csv too, and no other format is known there', async () => {
    const page = await stage.get('/events.csv?format=csv&details=1&after=5000')
    assert.equal(page.headers.get('daybook-has-more'), 'false')
    assert.equal(await page.text(), await (await stage.get(`${WHOLE}&after=5000`)).text())
    for (const path of ['/events.csv', '/flows.csv']) {
      const refused = await stage.get(`${path}?format=json`)
      const { code, errors } = (await refused.json()) as { code: string; errors: { allowed: string[] }[] }
      assert.deepEqual([refused.status, code, errors[0]?.allowed], [400, 'invalid-parameter', ['csv']])
    }
  })

  test('answers HEAD with its headers alone, without counting it', async () => {
    const heads = await Promise.all(Array.from({ length: 5 }, () => stage.get(WHOLE, {}, 'HEAD')))
    for (const response of heads) {
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('daybook-scanned-to'), String(HEAD))
      assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
    }
  })

  test('has an ETag, and costs nothing for a caller that has it', async () => {
    const etag = (await stage.get(WHOLE, {}, 'HEAD')).headers.get('etag') ?? ''
    assert.match(etag, /^W\/".*-whole"$/)
    const again = await stage.get(WHOLE, { 'If-None-Match': etag })
    assert.equal(again.status, 304)
    assert.equal(again.headers.get('daybook-seq'), String(HEAD))
  })

  test('is a page for a client of HTTP/1.0, which no cache keeps', async () => {
    using client = download(stage.port, WHOLE, '1.0')
    await until(client.isClosed)
    assert.match(client.text(), /^HTTP\/1\.1 200 /)
    assert.match(client.text(), /\r\nDaybook-Has-More: true\r\n/)
    assert.match(client.text(), /\r\nCache-Control: no-store\r\n/)
    assert.match(client.text(), /filename="daybook-events-1-1000-part\.csv"/)
    assert.match(client.text(), /rel="next"/)
    assert.equal((await stage.get(WHOLE, {}, 'HEAD')).headers.get('daybook-has-more'), 'false')
  })

  test('leaves its connection open for the next request', async () => {
    const asked = [`${WHOLE}&after=${HEAD - 500}`, '/api/v1/events/1'].map(
      (path) => `GET ${path} HTTP/1.1\r\nHost: daybook.test\r\n`,
    )
    const { text } = await sendRaw(stage.port, `${asked[0]}\r\n${asked[1]}Connection: close\r\n\r\n`)
    assert.match(text, /\r\n0\r\n\r\nHTTP\/1\.1 200 OK/)
    assert.match(text, /\{"seq":1,[^\n]+\}$/)
  })

  test('is refused to an address that receives two already, with the wait until one is expected to end', async () => {
    using one = download(stage.port)
    using two = download(stage.port)
    await Promise.all([one, two].map((client) => client.readOn(1)))
    const third = await stage.get(WHOLE)
    const problem = (await third.json()) as { code: string }
    assert.deepEqual([third.status, problem.code], [429, 'too-many-exports'])
    assert.ok(Number(third.headers.get('retry-after')) >= 1)
    assert.equal((await stage.get('/events.csv')).status, 429)
    assert.equal((await stage.get(`${WHOLE}&limit=10`)).status, 200)
    one.resume()
    await until(one.isWhole)
    assert.equal((await stage.get(`${WHOLE}&after=${HEAD - 1}`)).status, 200)
    two.resume()
    await until(two.isWhole)
  })

  test('has no event that is published while it is sent', async () => {
    using client = download(stage.port, `${WHOLE}&after=13`)
    await client.readOn(1)
    stage.append([LONG])
    client.resume()
    await until(client.isWhole)
    assert.match(client.text(), new RegExp(`\\r\\n${HEAD},loyalty`))
    assert.doesNotMatch(client.text(), new RegExp(`\\r\\n${HEAD + 1},loyalty`))
  })

  test('breaks off without its last chunk when the store fails', async () => {
    let reads = 0
    await using broken = await openApiStage({
      apartMs: 1,
      reader: (reader) => ({
        ...reader,
        snapshot(ask) {
          reads += 1
          if (reads > 5) throw new Error('the disk is gone')
          return reader.snapshot(ask)
        },
      }),
    })
    broken.trade(10_000)
    reads = 0
    using client = download(broken.port)
    await until(client.isClosed)
    assert.match(client.text(), /^HTTP\/1\.1 200 /)
    assert.ok(!client.isWhole())
    assert.equal(broken.reported.length, 1)
  })
})

suite('a whole CSV of /events whose reader stops', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage({ apartMs: 1, exports: { stallMs: STALL_MS, lookMs: 200, tickMs: 50 } })
    stage.append(Array.from({ length: HEAD - 13 }, () => LONG))
  })
  after(async () => {
    assert.deepEqual(stage.reported, [])
    await stage[Symbol.asyncDispose]()
  })

  test('is given up when nothing of it is taken for the time limit, without its last chunk', async () => {
    using client = download(stage.port)
    await client.readOn(1)
    await sleep(STALL_MS + 700)
    client.resume()
    await until(client.isClosed)
    assert.ok(!client.isWhole())
    // Its place is free again.
    using next = download(stage.port, `${WHOLE}&after=${HEAD - 1}`)
    await until(next.isWhole)
  })

  test('is never given up because its reader is slow', async () => {
    using client = download(stage.port)
    await client.readOn(1)
    const started = performance.now()
    // Far less in the time limit than the kernel buffers.
    for (let taken = 0; performance.now() - started < 2.5 * STALL_MS; await sleep(20)) {
      for (; taken < (performance.now() - started) * BYTES_A_MS; taken += 20_000) await client.readOn(20_000)
    }
    assert.ok(!client.isClosed() && !client.isWhole())
    client.resume()
    await until(client.isWhole)
  })
})
