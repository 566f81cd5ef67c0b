import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openPretendChain } from '../../sim/chain/pretend-chain.ts'
import { openRpcServer } from '../../sim/chain/rpc-server.ts'
import type { Service } from '../../src/command/service/service.ts'
import { decodeMessage, digestOfMessage, encodeMessage } from '../../src/log/message/message-frame.ts'
import { certifyNode } from '../../src/log/message/node-key.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { Status } from '../../src/protocol/resources.ts'
import { sealMark } from '../../src/publish/marks/sealed-mark.ts'
import { openSharedClock } from '../../src/publish/guards/shared-clock.ts'
import { deposit, FAST_PACE, FINAL_MS, PAYING } from '../finality/finality-stage.ts'
import { SOME_MARK } from '../messages/some-mark.ts'
import { OTHER_KEY } from '../story/signing.ts'
import { LOCAL_TOKEN, postDrafts } from '../stage/manual-node.ts'
import { NATS_NEEDED, NATS_SERVER } from '../engine/nats-program.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { isReadyToPublish, openNatsStage, openWritersStage } from './writers-stage.ts'
import { until } from '../processes/other-program.ts'

/** Near the end of a month. */
const START = Date.UTC(2026, 0, 31, 23, 50)
const NAMES = ['a', 'b', 'c'] as const

/** Answers that must be the same bytes on all nodes at one seq and one moment. */
const PATHS =
  `summary contests contests/1 contests/1/ledger payouts schedule flows funds loyalty/runs patterns
  events?limit=1000 events?limit=1000&format=csv events/3 events/3/corrections events/2/details event-types openapi.json
  archive archive/2026-01.jsonl.gz archive/2026-01.details.jsonl.gz archive/2026-01.json archive/SHA256SUMS
  log/tile/0/000.p/8 log/keys log/checkpoint log/proof/3`
    .split(/\s+/)
    .map((path) => `/api/v1/${path}`)

async function answer(url: string, path: string): Promise<string> {
  const response = await fetch(`${url}${path}`, { headers: { 'accept-encoding': 'identity' } })
  const body = Buffer.from(await response.arrayBuffer()).toString('base64')
  return `${response.status} ${response.headers.get('etag') ?? ''} ${body}`
}

const urlOf = ({ port }: Service): string => `http://127.0.0.1:${port}`
const doorOf = ({ publishPort }: Service): string => `http://127.0.0.1:${publishPort}`

async function headOf(url: string): Promise<number> {
  const { head } = (await (await fetch(`${url}/api/v1/status`)).json()) as { head: { seq: number } }
  return head.seq
}

/** Events of the whole log on every node. */
const untilAllHave = (urls: readonly string[], seq: number): Promise<void> =>
  until(`all nodes have ${seq} events`, async () => {
    const heads = await Promise.all(urls.map(headOf))
    return heads.every((head) => head === seq)
  })

/** Whether each node names the other two, takes drafts and lacks nothing, and exactly one leads. */
async function tellOfEachOther(urls: readonly string[]): Promise<boolean> {
  const told = await Promise.all(
    urls.map(async (url) => (await (await fetch(`${url}/api/v1/status`)).json()) as Status),
  )
  const names = told.map(({ cluster }) => [cluster?.name, cluster?.writers.map(({ name }) => name)])
  assert.deepEqual(names, [
    ['a', ['b', 'c']],
    ['b', ['a', 'c']],
    ['c', ['a', 'b']],
  ])
  const leads = told.flatMap(({ cluster, following }) =>
    cluster?.leads === true && following.state === 'leader' ? [cluster.name] : [],
  )
  const keepUp = told.every(
    ({ cluster, following }) => cluster?.publishing === true && following.behind === 0,
  )
  return leads.length === 1 && keepUp
}

/** A metric of a node without labels. */
async function countOf(node: Service, name: string): Promise<number> {
  const text = await (await fetch(`${doorOf(node)}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

async function held(service: Service): Promise<string> {
  const headers = { authorization: `Bearer ${LOCAL_TOKEN}` }
  return (await fetch(`${doorOf(service)}/held`, { headers })).text()
}

suite(
  'three writers of one log on NATS',
  { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED) },
  () => {
    const stack = new AsyncDisposableStack()
    const clock = openSharedClock()
    let now = START
    const advance = (ms: number): void => {
      now += ms
      clock.set(msOf(now))
    }
    const chain = openPretendChain({ kind: 'solana', seed: 'writers', now: () => now, tokens: {} })
    let engine: Awaited<ReturnType<typeof openNatsStage>>
    let nodes: readonly Service[] = []
    before(async () => {
      engine = stack.use(await openNatsStage())
      const stage = stack.use(await openWritersStage(engine, 'solana'))
      advance(0)
      const rpc = await openRpcServer({ chain, path: '/rpc' })
      stack.defer(() => rpc.close())
      const finality = {
        chain: 'solana',
        urls: [rpc.url],
        requestsPerMinute: 100_000,
        overdueMs: 3_600_000,
        amounts: null,
        pace: FAST_PACE,
      } as const
      nodes = await Promise.all(NAMES.map((name) => stage.startLocal(name, clock, finality)))
      for (const node of nodes) stack.use(node)
    })
    after(() => stack.disposeAsync())

    test('give the same answers byte for byte, with held drafts and a month that ends', async () => {
      const [a, b, c] = nodes
      assert.ok(a !== undefined && b !== undefined && c !== undefined)
      const urls = nodes.map(urlOf)
      await until('all take drafts', async () =>
        (await Promise.all(nodes.map((node) => isReadyToPublish(doorOf(node))))).every(Boolean),
      )
      // All publish the same drafts at once: one makes each event, and the others answer its seq.
      const answers = await Promise.all(nodes.map((node) => postDrafts(node, PAYING)))
      const receipts = await Promise.all(
        answers.map(
          async (one) => ((await one.json()) as { drafts: { status: string; seq: number }[] }).drafts,
        ),
      )
      assert.deepEqual(
        receipts.map((drafts) => drafts.map(({ seq }) => seq)),
        NAMES.map(() => [1, 2, 3, 4, 5, 6]),
      )
      const txs = [chain.txOf(1), chain.txOf(2)]
      for (const tx of txs) chain.send(tx)
      assert.equal((await postDrafts(b, [deposit('held-1', txs[0] ?? '')])).status, 200)
      assert.equal((await postDrafts(c, [deposit('held-2', txs[1] ?? '')])).status, 200)
      await until('all hold both', async () => {
        const lists = await Promise.all(nodes.map(held))
        return new Set(lists).size === 1 && (lists[0] ?? '').includes('held-2')
      })
      advance(FINAL_MS)
      await untilAllHave(urls, 8)
      await until('all name each other in /status, and one leads', () => tellOfEachOther(urls))
      for (const path of PATHS) {
        const [first, ...others] = await Promise.all(urls.map((url) => answer(url, path)))
        assert.match(first ?? '', /^200 /, path)
        for (const other of others) assert.equal(other, first, path)
      }
      assert.equal(new Set(await Promise.all(nodes.map(held))).size, 1)

      // A refusal for a reason of the books knows what was acknowledged elsewhere.
      for (let id = 2; id <= 4; id += 1) {
        const at = { opensAt: '2026-03-01T00:00:00Z', closesAt: '2026-03-02T00:00:00Z' }
        const scheduled = { ref: `s${id}`, type: 'contest', kind: 'scheduled', contestId: id, details: at }
        const opened = { ref: `o${id}`, type: 'contest', kind: 'opened', contestId: id }
        assert.equal((await postDrafts(a, [scheduled])).status, 200)
        assert.equal((await postDrafts(b, [opened])).status, 200, 'b knows what a has acknowledged')
        assert.equal((await postDrafts(c, [{ ...opened, ref: `again${id}` }])).status, 409)
        assert.equal((await postDrafts(a, [{ ...opened, kind: 'closed' }])).status, 409, 'the ref is taken')
      }
    })

    test('serve what they have without a majority of brokers, publish nothing, and go on by themselves', async () => {
      const [a, b] = nodes
      assert.ok(a !== undefined && b !== undefined)
      const lost = engine.brokers.slice(1)
      for (const broker of lost) broker.pause()
      const head = await headOf(urlOf(a))
      const draft = { ref: 'no majority', type: 'trade', kind: 'buy', kots: '1' }
      const refused = await postDrafts(a, [draft])
      assert.equal(refused.status, 503)
      assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
      for (const url of nodes.map(urlOf)) assert.equal(await headOf(url), head)
      for (const broker of lost) broker.resume()
      await until('the draft is published', async () => (await postDrafts(b, [draft])).status === 200)
      await untilAllHave(nodes.map(urlOf), head + 1)
    })

    test('stop for no mark that a stranger tells, and serve nothing of a message that is foreign', async () => {
      const [a] = nodes
      assert.ok(a !== undefined)
      const urls = nodes.map(urlOf)
      const head = await headOf(urlOf(a))
      // The stranger has stolen the key of the running user, and no key of a node.
      await using stranger = await engine.connect()
      const heard: Uint8Array[] = []
      stranger.onTold((bytes) => void heard.push(bytes))
      await until('marks are heard', async () => heard.length >= 3)
      const { log: logId } = (await (await fetch(`${urlOf(a)}/api/v1/status`)).json()) as Status
      const foreign = certifyNode(logId, OTHER_KEY, OTHER_KEY)
      const fork = { ...SOME_MARK, node: 'b', logId, atMs: Date.now(), place: 1, stopped: 'fork' }
      const told = [...heard]
      const torn = told.map((bytes) => bytes.subarray(1))
      const counted = await Promise.all(nodes.map((node) => countOf(node, 'daybook_marks_refused_total')))
      for (const bytes of [sealMark(fork, { node: foreign }), ...torn, ...told, Buffer.alloc(100_000)])
        stranger.tell(bytes)
      await until('all refuse them', async () => {
        const counts = await Promise.all(nodes.map((node) => countOf(node, 'daybook_marks_refused_total')))
        return counts.every((count, index) => count >= (counted[index] ?? 0) + torn.length + 2)
      })
      const draft = { ref: 'after the marks', type: 'trade', kind: 'buy', kots: '1' }
      assert.equal((await postDrafts(a, [draft])).status, 200)
      await untilAllHave(urls, head + 1)

      const place = (await stranger.log.last()) + 1
      const [newest] = await stranger.log.read(place - 1, 1)
      assert.ok(newest !== undefined)
      const decoded = decodeMessage(newest.bytes)
      assert.ok(decoded.ok)
      const next = { place, prev: digestOfMessage(newest.bytes), first: head + 2 }
      const bytes = encodeMessage({ ...decoded.signed.message, ...next }, foreign)
      await until('the foreign message is in the stream', async () => {
        await stranger.log.append(place, bytes)
        return (await stranger.log.last()) === place
      })
      await until('all have stopped', async () =>
        (await Promise.all(nodes.map((node) => countOf(node, 'daybook_void_total')))).every(
          (count) => count === 1,
        ),
      )
      for (const node of nodes) {
        assert.equal(await headOf(urlOf(node)), head + 1)
        assert.equal((await postDrafts(node, [{ ...draft, ref: 'late' }])).status, 503)
      }
      assert.equal((await fetch(`${urlOf(a)}/api/v1/events/${head + 2}`)).status, 503)
    })
  },
)
