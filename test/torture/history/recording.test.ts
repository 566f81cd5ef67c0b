import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import { until } from '../../stage/stream-client.ts'
import { openClusterPublishers } from './cluster-publishers.ts'
import type { History } from './history.ts'
import { violationsOf } from './history-checker.ts'
import { openHoppingSubscribers } from './hopping-subscribers.ts'

const EVENTS = 20
const WAIT_MS_MAX = 60_000

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server in place of a node, which may break promises. */
async function openFalseNode(answer: Answer): Promise<Readonly<{ url: string }> & AsyncDisposable> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function line(seq: number, kots = 1): string {
  return `{"seq":${seq},"type":"treasury","kind":"deposit","atMs":${seq},"contestId":null,"kots":"${kots}","tx":null}`
}

const NOTHING: History = {
  entries: [],
  requests: [],
  input: [],
  visits: [],
  firstLines: new Map(),
  discords: [],
  trees: [],
  recoveries: [],
  standstills: [],
  auditFaults: [],
  firstSeenMs: new Map(),
  firstDetails: new Map(),
  bare: new Set(),
  finals: new Map(),
  outbox: [],
  witnessed: [],
  backups: [],
}

/** Violations that subscribers of a stream record. `seqs` has those that it sends after a cursor. */
async function violationsOfStream(
  seqs: (after: number) => readonly number[],
  lineOf: (seq: number, visit: number) => string = (seq) => line(seq),
  status = 200,
): Promise<string> {
  let visits = 0
  await using node = await openFalseNode((request, response) => {
    const lookedUp = /\/events\/(\d+)$/.exec(request.url ?? '')?.[1]
    if (lookedUp !== undefined) return void response.end(line(Number(lookedUp)))
    const after = Number(/after=(\d+)/.exec(request.url ?? '')?.[1])
    visits += 1
    response.writeHead(status, { 'content-type': 'application/x-ndjson' })
    for (const seq of seqs(after)) response.write(`${lineOf(seq, visits)}\n`)
    response.end()
  })
  await using subscribers = openHoppingSubscribers({ seed: 'a', subscribers: 3, hopMs: 1_000 })
  subscribers.nodes([['false', node.url]])
  if (status === 200) assert.equal(await subscribers.lacking(EVENTS, WAIT_MS_MAX), 0)
  else await until(() => visits > 3, WAIT_MS_MAX)
  const { visits: recorded, firstLines, discords } = await subscribers.end()
  const entries = Array.from({ length: EVENTS }, (_, index) => line(index + 1))
  return violationsOf({
    ...NOTHING,
    entries,
    visits: recorded,
    firstLines: new Map(firstLines),
    discords,
  }).join('\n')
}

/** Seqs of the stream after a cursor, at most seven of them. */
const few = (after: number): readonly number[] =>
  Array.from({ length: EVENTS }, (_, index) => index + 1).filter((seq) => seq > after && seq <= after + 7)

suite('a subscriber that hops', { concurrency: true }, () => {
  const streams: readonly (readonly [
    records: string,
    stream: Parameters<typeof violationsOfStream>,
    report: RegExp,
  ])[] = [
    ['nothing wrong about a right stream', [few], /^(?![^]*(?:subscriber|reader))/],
    [
      'an event that a stream leaves out',
      [(after) => few(after).filter((seq) => seq !== 9)],
      /at false missed 9 to 9/,
    ],
    [
      'an event that a stream begins again with',
      [(after) => (after === 7 ? [7, ...few(after)] : few(after))],
      /at false received 7 again after 7/,
    ],
    [
      'a line that differs between two streams',
      [few, (seq, visit) => line(seq, seq === 5 ? visit : 1)],
      /another line/,
    ],
    ['a cursor that is refused', [() => [], undefined, 400], /at false was refused with 400 after 0/],
  ]
  for (const [records, stream, report] of streams)
    test(`records ${records}`, async () => assert.match(await violationsOfStream(...stream), report))
})

type Receipt = Readonly<{ ref: string; status: string; seq?: number }>

/** Violations that two publishers record of a publish API that gives these receipts. */
async function violationsOfApi(
  receiptsOf: (refs: readonly string[]) => readonly Receipt[] | number,
): Promise<string> {
  await using node = await openFalseNode((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      const refs = (JSON.parse(text) as { ref: string }[]).map(({ ref }) => ref)
      const receipts = receiptsOf(refs)
      response.statusCode = typeof receipts === 'number' ? receipts : 200
      response.end(
        JSON.stringify({ code: 'wrong-state', drafts: typeof receipts === 'number' ? [] : receipts }),
      )
    })
  })
  const { url } = node
  const one = {
    name: 'false',
    kind: 'writer',
    data: '',
    url: () => url,
    publishUrl: url,
    said: () => '',
  } as const
  const settings = { seed: 'a', publishers: 2, nodes: [one], token: '', pay: null, paceMs: 1 }
  const publishers = openClusterPublishers(settings)
  await until(() => publishers.requests.length > 30, WAIT_MS_MAX)
  await publishers.end()
  return violationsOf({ ...NOTHING, requests: publishers.requests }).join('\n')
}

suite('a publisher', () => {
  test('records acknowledgements of a publish API that stores nothing, and a contradiction that is accepted', async () => {
    let seq = 0
    const found = await violationsOfApi((refs) =>
      refs.map((ref) => ({ ref, status: 'published', seq: (seq += 1) })),
    )
    assert.match(found, /was acknowledged by false at 1 and is lost/)
    assert.match(found, /was accepted by false/)
  })

  test('records drafts that are held and never published, and a refusal of a right draft', async () => {
    const found = await violationsOfApi((refs) => refs.map((ref) => ({ ref, status: 'held' })))
    assert.match(found, /was held by false and is not in the log/)
    assert.match(await violationsOfApi(() => 409), /was refused by false with 409 wrong-state/)
  })
})
