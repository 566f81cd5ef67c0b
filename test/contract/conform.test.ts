import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request,
  type RequestListener,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { sharedSample, startImportedNode } from '../sample/imported-node.ts'
import { SAMPLE } from '../stage/places.ts'
import { publishDeposit, run } from '../stage/command-stage.ts'
import { publishTo } from '../stage/node-process.ts'
import type { Service } from '../stage/service.ts'

/** Answer of the service, and the changes of a fault. */
type Changed = { status: number; headers: OutgoingHttpHeaders; body: string }
type Asked = Readonly<{ method: string; target: string; headers: IncomingHttpHeaders }>

/** One planted fault: where it is looked for, and the sentences that break. */
type PlantedFault = Readonly<{
  fault: string
  only: string
  /** Whether the small log shows it too, in less time. */
  small?: true
  /** Changes the request. */
  ask?: (asked: Asked) => Partial<Asked> | Promise<Partial<Asked>>
  /** Changes the whole answer. */
  answer?: (answer: Changed, asked: Asked) => void
  broken: readonly string[]
}>

type Local = AsyncDisposable & Readonly<{ url: string }>

async function serve(listener: RequestListener): Promise<Local> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A proxy before the service, which passes bytes on as they are but for its fault. */
function openFaulty(service: string, { ask, answer }: Pick<PlantedFault, 'ask' | 'answer'>): Promise<Local> {
  return serve(async (incoming, outgoing) => {
    const own = { method: incoming.method ?? '', target: incoming.url ?? '', headers: incoming.headers }
    const { method, target, headers } = { ...own, ...(await ask?.(own)) }
    const { hostname, port } = new URL(service)
    const upstream = request({ hostname, port, method, path: target, headers, agent: false }, (from) => {
      const isStream = /stream|ndjson/.test(from.headers['content-type'] ?? '')
      if (answer === undefined || isStream || method !== 'GET') {
        outgoing.writeHead(from.statusCode ?? 0, from.headers)
        from.pipe(outgoing)
        return
      }
      const chunks: Buffer[] = []
      from.on('data', (chunk: Buffer) => chunks.push(chunk))
      from.on('end', () => {
        // Latin 1 keeps every byte of a file.
        const body = Buffer.concat(chunks).toString('latin1')
        const changed: Changed = { status: from.statusCode ?? 0, headers: { ...from.headers }, body }
        answer(changed, own)
        const bytes = Buffer.from(changed.body, 'latin1')
        if (changed.body !== body) changed.headers['content-length'] = bytes.byteLength
        outgoing.writeHead(changed.status, changed.headers).end(bytes)
      })
    })
    // A stream that the reader has closed.
    outgoing.on('close', () => upstream.destroy())
    upstream.on('error', () => outgoing.destroy())
    upstream.end()
  })
}

const FAULTS: readonly PlantedFault[] = [
  {
    fault: 'drops the last event of a page',
    only: 'walk-events',
    small: true,
    answer(answer, { target }) {
      if (/[?&]limit=701/.test(target) && !target.includes('desc'))
        answer.body = answer.body.replace(/,\{"seq":\d+,[^{}]*\}\],"page"/, '],"page"')
    },
    broken: ['Pages of another size give the same events.'],
  },
  {
    fault: 'answers 304 to every tag',
    only: 'summary',
    answer(answer, { headers, target }) {
      if (target !== '/api/v1/summary' || headers['if-none-match'] === undefined) return
      Object.assign(answer, { status: 304, body: '' })
    },
    broken: ['Another tag does not match.'],
  },
  {
    fault: 'has a new ETag for the same answer each time',
    only: 'walk-lists',
    answer(answer, { target }) {
      if (target.startsWith('/api/v1/schedule')) answer.headers.etag = `"${Math.random()}"`
    },
    broken: ['An answer that has not changed is 304 for a reader who has its tag.'],
  },
  {
    fault: 'leaves CORS out of 304',
    only: 'event',
    answer(answer) {
      if (answer.status === 304) delete answer.headers['access-control-allow-origin']
    },
    broken: ['A conditional request gets 304.'],
  },
  {
    fault: 'repeats an event when a stream is resumed',
    only: 'stream,walk-events',
    small: true,
    ask({ headers }) {
      const last = Number(headers['last-event-id'] ?? 0)
      return last > 100 ? { headers: { ...headers, 'last-event-id': String(last - 1) } } : {}
    },
    broken: ['A stream that breaks off goes on at Last-Event-ID, and loses and repeats nothing.'],
  },
  {
    fault: 'has another amount in the CSV of the events than in their JSON',
    only: 'walk-events',
    small: true,
    answer(answer, { target }) {
      if (target.includes('format=csv')) answer.body = answer.body.replace(/,(\d+)\.(\d{8})\d,/, ',$1.$27,')
    },
    broken: ['The CSV of the events has the values of the JSON.'],
  },
  {
    fault: 'has an amount as a number',
    only: 'schedule,contest-ledger',
    answer(answer, { target }) {
      if (/\/contests\/\d+$/.test(target))
        answer.body = answer.body.replace(/"spentOnPlay":"([^"]+)"/, '"spentOnPlay":$1')
    },
    broken: ['The paid amount is that of the contest.'],
  },
  {
    fault: 'keeps an event for a day only',
    only: 'event',
    answer(answer, { target }) {
      if (target === '/api/v1/events/2' && answer.status === 200)
        answer.headers['cache-control'] = 'public, max-age=86400'
    },
    broken: ['An event has a stable address, and its answer never changes.'],
  },
  {
    fault: 'answers a range of a month file with the whole file',
    only: 'archive-month',
    answer(answer, { headers, target }) {
      if (answer.status !== 206 || headers['if-range'] !== undefined || !target.endsWith('.jsonl.gz')) return
      answer.status = 200
    },
    broken: [
      'A broken download goes on where it ended.',
      'A suffix range answers the last bytes of a file of unknown length.',
      'The present file is sent, in part too.',
    ],
  },
  {
    fault: 'leads from a page back to the same page',
    only: 'walk-lists',
    answer(answer, { target }) {
      if (target.startsWith('/api/v1/contests?') && !target.includes('limit=200'))
        answer.body = answer.body.replace(/"next":"[^"]+"/, () => `"next":"${target}"`)
    },
    broken: ['The contests come page by page, each once.'],
  },
  {
    fault: 'has a problem as plain JSON',
    only: 'event-type',
    answer(answer) {
      if (answer.status === 404) answer.headers['content-type'] = 'application/json'
    },
    broken: ['A type that does not exist is refused with those that do.'],
  },
  {
    fault: 'leaves a closed month out of the archive',
    only: 'walk-events',
    answer(answer, { target }) {
      if (target === '/api/v1/archive')
        answer.body = answer.body.replace(/\{"month":"[^"]+","state":"closed"[^}]*\},/, '')
    },
    broken: ['The archive has every month up to that of the head, and all but the last are closed.'],
  },
]

/** Drafts of the small log. */
const SMALL_EVENTS = 400

/** Sentences that a report names as broken. */
const brokenIn = (report: string): readonly string[] =>
  Array.from(report.matchAll(/^ {6}(\S.*)$/gm), ([, sentence = '']) => sentence)

suite('daybook conform', () => {
  let sample = ''
  let small: Service | undefined
  const smallNode = (): Service => small ?? assert.fail('the small node runs')
  before(async () => {
    sample = (await sharedSample()).url
    small = await startImportedNode({})
  })
  after(() => small?.[Symbol.asyncDispose]())

  test('holds for an empty log, and names what the log lacks', async () => {
    const { code, stdout, stderr } = await run(['conform', smallNode().url])
    assert.deepEqual([brokenIn(stdout), code], [[], 0], stdout)
    assert.match(stderr, /, 0 events; about \d+ requests, no rate limit$/m)
    assert.match(stdout, /^ok +event-corrections +2 sentences hold, 6 not applicable: needs a correction$/m)
    assert.match(stdout, /^it conforms: \d+ sentences hold, \d+ not applicable; \d+ requests, /m)
  })

  test('holds for a log in its first month that gets events between the requests', async () => {
    const lines = readFileSync(SAMPLE, 'utf8').split('\n').slice(0, SMALL_EVENTS)
    await publishTo(
      smallNode(),
      lines.map((line) => ({ ...JSON.parse(line), at: undefined })),
    )
    let count = 0
    await using busy = await openFaulty(smallNode().url, {
      async ask() {
        if (++count % 3 === 0) await publishDeposit(smallNode(), `busy-${count}`)
        return {}
      },
    })
    const racing = 'archive-month,log-proof,summary,walk-events'
    const { code, stdout } = await run(['conform', busy.url, '--only', racing])
    assert.deepEqual([brokenIn(stdout), code], [[], 0], stdout)
    assert.match(stdout, /^ok +archive-month .*: needs a closed month$/m)
  })

  for (const { fault, only, broken, small: isSmall, ...changes } of FAULTS) {
    test(`finds a service that ${fault}, and blames nothing else`, async () => {
      await using faulty = await openFaulty(isSmall === true ? smallNode().url : sample, changes)
      const { code, stdout } = await run(['conform', faulty.url, '--only', only])
      assert.deepEqual(brokenIn(stdout), broken, stdout)
      assert.equal(code, 1)
      assert.match(stdout, /^WRONG: .*; \d+ requests, /m)
    })
  }

  test('shows nothing of a service that a terminal would obey, and no more than a line of it', async () => {
    await using hostile = await openFaulty(sample, {
      answer(answer) {
        if (answer.status === 404) answer.body = `{"detail":"\\u001b[2J\\u202e${'x'.repeat(100_000)}"}`
      },
    })
    const { stdout } = await run(['conform', hostile.url, '--only', 'event-type'])
    // oxlint-disable-next-line no-control-regex -- control characters must not be there
    assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u202e]/)
    assert.match(stdout, /was: +\ufffd\[2J\ufffdx+…$/m)
    assert.ok(stdout.length < 2_000)
  })

  for (const [what, listener, message] of [
    [
      'is no Daybook',
      (_, response) => response.end('<html>\u001b[2J'),
      /^daybook: no Daybook answers here: \/api\/v1\/status is no JSON$/m,
    ],
    [
      'has other JSON',
      (_, response) => response.end('{"head":7}'),
      /^daybook: no Daybook answers here: \/api\/v1\/status has no head$/m,
    ],
    [
      'redirects',
      (_, response) => response.writeHead(308, { Location: 'https://other.example/\u009b' }).end(),
      /^daybook: the service redirects to https:\/\/other\.example\/\ufffd: give that address$/m,
    ],
    [
      'answers 500 to everything',
      (_, response) => response.writeHead(500).end(),
      /^daybook: \/api\/v1\/status is answered with status 500: try again later$/m,
    ],
    [
      'answers 429 to everything',
      (_, response) => response.writeHead(429, { 'Retry-After': '3600' }).end(),
      /^daybook: \/api\/v1\/status is answered with status 429: try again later$/m,
    ],
    [
      'closes every connection',
      (_, response) => response.destroy(),
      /^daybook: the service does not answer: /m,
    ],
    [
      'sends headers without an end',
      (_, response) => response.writeHead(200, { 'X-Long': 'x'.repeat(100_000) }).end(),
      /^daybook: the service does not answer: .*Header overflow/m,
    ],
    [
      'sends a body without an end',
      (_, response) => {
        const chunk = Buffer.alloc(1024 * 1024, ' ')
        const more = (): void => void response.write(chunk, (error) => error == null && more())
        more()
      },
      /^daybook: no Daybook answers here: \/api\/v1\/status is too long$/m,
    ],
  ] satisfies readonly (readonly [string, RequestListener, RegExp])[])
    test(`ends at once with a service that ${what}`, async () => {
      await using other = await serve(listener)
      const { code, stdout, stderr } = await run(['conform', other.url], { random: () => 0 })
      assert.match(stderr, message)
      assert.deepEqual([code, stdout], [1, ''])
    })

  test('ends when the service stops to answer', async () => {
    let count = 0
    await using dying = await openFaulty(sample, {
      answer(answer) {
        if (++count > 5) answer.status = 503
      },
    })
    const { code, stderr } = await run(['conform', dying.url, '--only', 'event'], { random: () => 0 })
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: the service has not answered 3 requests in a row: /m)
  })

  test('refuses what is no address and no script before it asks', async () => {
    for (const [words, message] of [
      [['not-a-url'], /give the address of the service/],
      [['http://127.0.0.1:1/path'], /without a path/],
      [[sample, '--only', 'events,nothing'], /--only: give some of these: archive-month, /],
    ] as const) {
      const { code, stderr } = await run(['conform', ...words])
      assert.equal(code, 2)
      assert.match(stderr, message)
    }
  })

  test('ends at an interrupt, without a verdict', async () => {
    const stop = new AbortController()
    await using waiting = await serve(() => stop.abort())
    const { code, stdout, stderr } = await run(['conform', waiting.url], { stop: stop.signal })
    assert.deepEqual([code, stdout, stderr], [1, '', 'daybook: stopped; not every sentence was checked\n'])
  })
})
