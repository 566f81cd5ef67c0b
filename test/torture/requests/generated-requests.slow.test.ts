import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { txOf } from '../../../sim/import-draft.ts'
import { randomOf } from '../../../sim/random.ts'
import { assertStreamPartDescribed } from '../../stage/described.ts'
import { SAMPLE } from '../../stage/places.ts'
import { type Service, startService } from '../../stage/service.ts'
import { openCampaign } from '../campaign.ts'
import { assertAnswer, type ReceivedAnswer } from './request-judge.ts'
import {
  type GeneratedRequest,
  type KnownValues,
  openRequests,
  type OperationDocument,
} from './request-generator.ts'
import { publishTo } from '../../stage/node-process.ts'

const CAMPAIGN = openCampaign('generated-requests')
/** A chain that never answers, so that each draft with a transaction stays held. */
const UNREACHABLE = 'solana=http://127.0.0.1:9'
const LANES = 4
const ANSWER_MS_MAX = 30_000
/** Share of the answers whose request is sent again with their ETag, and as HEAD. */
const ASKED_AGAIN = 0.05

type Document = OperationDocument &
  Readonly<{ paths: Readonly<Record<string, { get: { responses: object } }>> }>

suite(`${CAMPAIGN.size} requests generated from the OpenAPI document`, () => {
  let service: Service
  const agent = new Agent({ keepAlive: true, maxSockets: LANES })
  before(async () => {
    const options = ['--rate-limit', 'off', '--workers', '2', '--finality', UNREACHABLE]
    service = await startService({ drafts: SAMPLE, options })
    await holdDrafts(service)
  })
  after(async () => {
    agent.destroy()
    await service?.[Symbol.asyncDispose]()
  })

  /** Sends a request as it is. A stream is read until its first position, then left. */
  async function ask({
    method,
    target,
    headers,
  }: Omit<GeneratedRequest, 'secrets' | 'operation'>): Promise<ReceivedAnswer> {
    const { hostname, port } = new URL(service.url)
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const outgoing = request({ hostname, port, method, path: target, headers, agent, signal })
    outgoing.end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    const endless = isStream(incoming) && method === 'GET'
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      if (endless && /"position"|position\n/.test(chunk.toString())) break
    }
    const pairs: [string, string][] = []
    for (let at = 0; at < incoming.rawHeaders.length; at += 2)
      pairs.push([incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? ''])
    const body = Buffer.concat(chunks)
    if (endless) assertStream(body.toString())
    return { status: incoming.statusCode ?? 0, headers: new Headers(pairs), body }
  }

  /**
   * Asserts that HEAD has the headers of a GET, and that its ETag gets a 304. Returns false when nothing was compared,
   * because the answer changed meanwhile: one that depends on the present changes with the minute.
   */
  async function assertSame(generated: GeneratedRequest, { headers }: ReceivedAnswer): Promise<boolean> {
    const etag = headers.get('etag') ?? assert.fail('no ETag')
    let head = await ask({ ...generated, method: 'HEAD' })
    if (head.headers.get('etag') !== etag) {
      const second = await ask(generated)
      if (second.headers.get('etag') !== etag) return false
      head = await ask({ ...generated, method: 'HEAD' })
      const third = await ask(generated)
      if (third.headers.get('etag') !== etag) return false
    }
    assert.deepEqual(stableHeaders(head.headers), stableHeaders(headers), 'HEAD has the headers of GET')
    const unchanged = await ask({
      ...generated,
      headers: { ...generated.headers, 'If-None-Match': etag },
    })
    assert.ok([304, 200].includes(unchanged.status), `${unchanged.status} for its own ETag`)
    if (unchanged.status === 304) return true
    assert.notEqual(unchanged.headers.get('etag'), etag, 'its own ETag is recognised')
    return false
  }

  test(
    'get documented answers that fit their schemas, and that repeat nothing',
    { timeout: 600_000 + CAMPAIGN.size * 50 },
    async (t) => {
      const { document, known } = await factsOf(service)
      const next = openRequests(document, known, CAMPAIGN.random)
      const follow = randomOf(`${CAMPAIGN.seed} again`)
      const seen = {
        asked: 0,
        operations: new Map<string, number>(),
        statuses: new Map<number, number>(),
        again: 0,
        withoutEtag: 0,
        changed: 0,
        secrets: 0,
        bytes: 0,
      }

      const count = (generated: GeneratedRequest, { status, body }: ReceivedAnswer): void => {
        seen.asked += 1
        seen.secrets += generated.secrets.length > 0 ? 1 : 0
        seen.bytes += body.length
        seen.statuses.set(status, (seen.statuses.get(status) ?? 0) + 1)
        seen.operations.set(generated.operation, (seen.operations.get(generated.operation) ?? 0) + 1)
      }
      const judge = async (generated: GeneratedRequest, number: number): Promise<void> => {
        try {
          const answer = await ask(generated)
          assertAnswer(generated, answer, document.paths)
          count(generated, answer)
          if (answer.status !== 200 || generated.method !== 'GET' || !follow.chance(ASKED_AGAIN)) return
          if (isEndless(answer)) return
          if (answer.headers.get('etag') === null) seen.withoutEtag += 1
          else if (await assertSame(generated, answer)) seen.again += 1
          else seen.changed += 1
        } catch (cause) {
          throw new Error(`request ${number} of seed ${CAMPAIGN.seed}: ${JSON.stringify(generated)}`, {
            cause,
          })
        }
      }
      let number = 0
      const lane = async (): Promise<void> => {
        while (number < CAMPAIGN.size) {
          number += 1
          if (number % 20_000 === 0) t.diagnostic(`${number} requests`)
          await judge(next(), number)
        }
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      assert.equal((await ask({ method: 'GET', target: '/api/v1/status', headers: {} })).status, 200)

      const statuses = Object.fromEntries(
        [...seen.statuses].map(([status, times]) => [`status${status}`, times]),
      )
      const least = Math.min(...Object.keys(document.paths).map((path) => seen.operations.get(path) ?? 0))
      const { asked, again, withoutEtag, changed, secrets, bytes } = seen
      const figures = {
        asked,
        again,
        withoutEtag,
        changed,
        withAddress: secrets,
        megabytes: Math.round(bytes / 1e6),
        leastOfAnOperation: least,
        ...statuses,
      }
      const share = (percent: number): number => Math.floor((CAMPAIGN.size * percent) / 100)
      CAMPAIGN.finish(t, figures, {
        asked: CAMPAIGN.size,
        again: share(1),
        withAddress: share(5),
        leastOfAnOperation: share(1),
        status200: share(30),
        status400: share(15),
        status404: share(3),
        status405: share(2),
        status204: share(1),
        status414: share(0.2),
      })
    },
  )
})

const isStream = (incoming: IncomingMessage): boolean =>
  /event-stream|x-ndjson/.test(incoming.headers['content-type'] ?? '')
const isEndless = ({ headers }: ReceivedAnswer): boolean =>
  /event-stream|x-ndjson/.test(headers.get('content-type') ?? '')

function assertStream(text: string): void {
  if (text.startsWith('{')) {
    for (const data of text.split('\n').slice(0, -1)) assertStreamPartDescribed({ data })
    return
  }
  for (const block of text.split('\n\n').slice(0, -1))
    assertStreamPartDescribed(Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2))))
}

/** Headers that do not change from request to request. An answer of the same ETag and coding has the same length. */
function stableHeaders(headers: Headers): readonly (readonly [string, string])[] {
  const varying = /^(?:date|connection|keep-alive|transfer-encoding|daybook-request|ratelimit)$/
  return [...headers].filter(([name]) => !varying.test(name))
}

/** Publishes drafts that stay held, so that /status and the pages have some. */
async function holdDrafts(to: Service): Promise<void> {
  const random = randomOf('held drafts')
  const drafts = Array.from({ length: 5 }, (_, index) => ({
    ref: `held-${index}`,
    type: 'treasury',
    kind: 'deposit',
    kots: '1',
    tx: txOf(random),
  }))
  const { drafts: receipts } = await publishTo(to, drafts)
  assert.deepEqual([...new Set(receipts.map(({ status }) => status))], ['held'])
}

/** The served OpenAPI document, and values of the served log. */
async function factsOf({ url }: Service): Promise<Readonly<{ document: Document; known: KnownValues }>> {
  const read = async <T>(path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T
  const document = await read<Document>('/api/v1/openapi.json')
  const { events } = await read<{
    events: readonly { seq: number; kind: string; tx: string | null; atMs: number }[]
  }>('/api/v1/events?limit=10000')
  const { months } = await read<{ months: readonly { month: string }[] }>('/api/v1/archive')
  const files = months.flatMap(({ month }) => [
    `${month}.jsonl.gz`,
    `${month}.details.jsonl.gz`,
    `${month}.json`,
  ])
  const head = events.at(-1)?.seq ?? 0
  return {
    document,
    known: {
      head,
      txs: events.flatMap(({ tx }) => tx ?? []).slice(0, 100),
      kinds: [...new Set(events.map(({ kind }) => kind))],
      atMs: { first: events[0]?.atMs ?? 0, last: events.at(-1)?.atMs ?? 0 },
      segments: {
        file: [...files, 'SHA256SUMS'],
        tile: ['000', '001', `00${head >> 8}.p/${head & 255}`, '000.p/1', '003.p/7', '009'],
      },
    },
  }
}
