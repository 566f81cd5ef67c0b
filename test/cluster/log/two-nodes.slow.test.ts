import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { openPretendChain } from '../../../sim/chain/pretend-chain.ts'
import { openRpcServer } from '../../../sim/chain/rpc-server.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import type { Status } from '../../../src/protocol/endpoints/description-endpoints.ts'
import { openSharedClock } from '../../../src/publish/writer/shared-clock.ts'
import { judgeOf } from '../../../src/finality/command/finality-options.ts'
import { deposit, FAST_PACE, FINAL_MS, PAYING } from '../../finality/finality-stage.ts'
import { hasPostgres } from '../../database/postgres-server.ts'
import { until } from '../../processes/other-program.ts'
import { run } from '../../stage/command-stage.ts'
import { LOCAL_TOKEN, postDrafts } from '../../stage/manual-node.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import {
  answersOf,
  isReady,
  jsonAt,
  openTableStage,
  publishAt,
  someDeposit,
  type StageNode,
  type TableStage,
  untilHead,
  untilLeads,
} from './table-stage.ts'

/** Near the end of a month. */
const START = Date.UTC(2026, 0, 31, 23, 50)
/** Answers that are the same bytes on all nodes at one seq and one moment. */
const PATHS =
  `summary contests contests/1 contests/1/ledger payouts schedule flows funds loyalty/runs patterns
  events?limit=1000 events?limit=1000&format=csv events/3 events/3/corrections events/2/details event-types openapi.json
  archive archive/2026-01.jsonl.gz archive/2026-01.details.jsonl.gz archive/2026-01.json archive/SHA256SUMS
  log/tile/0/000.p/8 log/keys log/checkpoint log/proof/3`.split(/\s+/)

const authorized = { authorization: `Bearer ${LOCAL_TOKEN}`, 'content-type': 'application/json' }

async function ask(node: StageNode, path: string, body: object | null): Promise<readonly [number, string]> {
  const post = body === null ? {} : { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${node.publishUrl}${path}`, { ...post, headers: authorized })
  return [answer.status, await answer.text()]
}

/** The held drafts of a node, without the newest words of the chain: only the leader asks for them. */
const held = async (node: StageNode): Promise<string> =>
  (await ask(node, '/held', null))[1].replaceAll(/,"lastMessages":(?:null|\[[^\]]*\])/g, '')

/** Value of a metric without labels. */
async function metric({ publishUrl }: StageNode, name: string): Promise<number> {
  const text = await (await fetch(`${publishUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

suite('two nodes of a log on a table', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  const stack = new AsyncDisposableStack()
  const clock = openSharedClock()
  let now = START
  const advance = (ms: number): void => {
    now += ms
    clock.set(msOf(now))
  }
  const chain = openPretendChain({ kind: 'solana', seed: 'two nodes', now: () => now, tokens: {} })
  let stage: TableStage
  let start: (name: string) => Promise<StageNode>
  let leader: StageNode
  let follower: StageNode

  before(async () => {
    advance(0)
    stage = stack.use(await openTableStage())
    const rpc = await openRpcServer({ chain, path: '/rpc' })
    stack.defer(() => rpc.close())
    const asks = { requestsPerMinute: 100_000, overdueMs: 3_600_000, amounts: null, pace: FAST_PACE }
    const judge = judgeOf({ chain: 'solana', urls: [rpc.url], ...asks })
    const table = await stage.movedLog('first', 0)
    start = (name) => stage.start(name, table, { clock, judge })
    leader = await start('first')
    await untilLeads(leader)
    follower = await start('second')
    writeFileSync(stage.pathOf('token'), LOCAL_TOKEN, { mode: 0o600 })
  })
  after(() => stack.disposeAsync())

  test('give the same answers byte for byte, with held drafts and a month that ends', async () => {
    assert.equal((await postDrafts(leader.service, PAYING)).status, 200)
    const txs = [chain.txOf(1), chain.txOf(2)]
    for (const tx of txs) chain.send(tx)
    const paid = txs.map((tx, index) => deposit(`held-${index + 1}`, tx))
    assert.equal((await postDrafts(leader.service, paid)).status, 200)
    await until('both hold both', async () => {
      const lists = await Promise.all([leader, follower].map(held))
      return lists[0] === lists[1] && (lists[0] ?? '').includes('held-2')
    })
    advance(FINAL_MS)
    await Promise.all([untilHead(leader, 8), untilHead(follower, 8)])
    const answers = await answersOf(leader.url, PATHS)
    for (const answer of answers) assert.match(answer, /^\S+ 200 /)
    assert.deepEqual(await answersOf(follower.url, PATHS), answers)
    assert.equal(await held(leader), await held(follower))
  })

  test('differ in what they take: a follower refuses drafts, decisions and steps, and says that it follows', async () => {
    const refs = { refs: ['held-1'], reason: 'the test asks' }
    const asked: readonly (readonly [string, object])[] = [
      ['/publish', [someDeposit('refused')]],
      ['/held/release', refs],
      ['/held/drop', refs],
      ['/cluster/keys', { vkeys: [(await jsonAt<Keys>(follower.url, 'log/keys')).keys[0]?.vkey] }],
    ]
    for (const [path, body] of asked) {
      const [status, text] = await ask(follower, path, body)
      assert.equal(status, 503, `${path}: ${text}`)
      assert.equal((JSON.parse(text) as { code: string }).code, 'not-leading', path)
    }
    assert.deepEqual(await Promise.all([isReady(leader.publishUrl), isReady(follower.publishUrl)]), [
      true,
      false,
    ])
    assert.equal((await fetch(`${follower.publishUrl}/readyz`)).status, 200)
    await until('both say what they are', async () => {
      const [one, other] = await Promise.all(
        [leader, follower].map(({ url }) => jsonAt<Status>(url, 'status')),
      )
      assert.deepEqual(one?.following, { state: 'leader', behind: 0 })
      assert.deepEqual(other?.following, { state: 'follower', behind: 0 })
      return true
    })
  })

  test('are counted apart in metrics, and log who leads', async () => {
    await until('the metrics are reported', async () => (await metric(leader, 'daybook_log_leads')) === 1)
    const nodes = [leader, follower]
    const of = (name: string): Promise<readonly number[]> =>
      Promise.all(nodes.map((node) => metric(node, `daybook_log_${name}`)))
    assert.deepEqual(await of('leads'), [1, 0])
    assert.deepEqual(await of('takeovers_total'), [1, 0])
    for (const name of ['lag_rows', 'table_away', 'stopped', 'append_unknown_total', 'put_back_total'])
      assert.deepEqual(await of(name), [0, 0], name)
    const [offset = 99] = await of('clock_offset_seconds')
    assert.ok(Math.abs(offset) < 5, String(offset))
    assert.match(leader.said(), /"fact":"log-leads".*"place":1/)
    assert.doesNotMatch(follower.said(), /log-leads/)
  })

  test('take drafts by `publish --to` with both publish APIs, whichever leads', async () => {
    const drafts = stage.pathOf('drafts.jsonl')
    writeFileSync(drafts, `${JSON.stringify(someDeposit('by command'))}\n`)
    const to = ['--to', `${follower.publishUrl},${leader.publishUrl}`, '--token-file', stage.pathOf('token')]
    const { code, stderr, stdout } = await run(['publish', drafts, ...to])
    assert.equal(code, 0, stderr)
    assert.match(stdout + stderr, /by command|1/)
    await Promise.all([untilHead(leader, 9), untilHead(follower, 9)])
  })

  test('let a reader hop: a page or a stream ahead of a node that lags waits for it', async () => {
    for (const path of ['events', 'stream']) {
      // The follower reads the table five times a second.
      const seq = await publishAt(leader, `ahead ${path}`)
      const answer = await fetch(`${follower.url}/api/v1/${path}?after=${seq}`)
      assert.equal(answer.status, 200, path)
      await answer.body?.cancel()
      const far = await fetch(`${follower.url}/api/v1/${path}?after=${seq + 1_000}`)
      assert.equal(far.status, 400, path)
      assert.equal(((await far.json()) as { code: string }).code, 'cursor-ahead')
    }
  })

  test('go on at the other one with held drafts and a release, when the leader ends', async () => {
    const [sent, known] = [chain.txOf(3), chain.txOf(4)]
    const late = [deposit('late', sent), deposit('vouched', known)]
    assert.equal((await postDrafts(leader.service, late)).status, 200)
    await until('the follower holds them', async () => (await held(follower)).includes('vouched'))
    await leader[Symbol.asyncDispose]()
    await untilLeads(follower)
    assert.match(follower.said(), /"fact":"log-leads"/)
    const vouch = { refs: ['vouched'], reason: 'the operator knows it' }
    assert.equal((await ask(follower, '/held/vouch', vouch))[0], 200)
    chain.send(sent)
    advance(FINAL_MS)
    await untilHead(follower, 13)
    leader = await start('first')
    await untilHead(leader, 13)
    assert.deepEqual(await answersOf(leader.url, PATHS), await answersOf(follower.url, PATHS))
  })

  test('publish a draft once that is sent again to the other one', async () => {
    const seq = await publishAt(follower, 'repeated')
    assert.equal(seq, 14)
    await follower[Symbol.asyncDispose]()
    assert.equal(await publishAt(leader, 'repeated'), seq)
    await untilHead(leader, seq)
  })
})

type Keys = Readonly<{ keys: readonly Readonly<{ vkey: string }>[] }>
