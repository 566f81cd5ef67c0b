import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { hasPostgres } from '../../database/postgres-server.ts'
import { isRunning, until } from '../../processes/other-program.ts'
import { type NodeProcess, readLines, startNode } from '../../stage/node-process.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { openRelay } from '../../stage/relay.ts'
import {
  answersOf,
  isReady,
  openTableStage,
  someDeposit,
  type StageTable,
  type TableStage,
} from './table-stage.ts'

/** Longest wait for another leader. */
const TAKEOVER_MS = 10_000

suite('a leader of a log on a table', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  const stack = new AsyncDisposableStack()
  let stage: TableStage
  let table: StageTable
  before(async () => {
    stage = stack.use(await openTableStage())
    table = await stage.movedLog('a', 1)
  })
  after(() => stack.disposeAsync())

  async function start(name: string, url = table.url): Promise<NodeProcess> {
    const key = ['--signing-key-file', stage.pathOf('a.key')]
    const words = ['--log-store', url, '--single-database', ...key]
    const node = await startNode(stage.pathOf(name), words, [], 'cluster')
    stack.defer(async () => {
      if (isRunning(node.child)) await node.end('SIGKILL')
    })
    return node
  }

  const untilTaken = async (node: NodeProcess, ref: string): Promise<number> => {
    let seq = 0
    await until(
      'the other node takes drafts',
      async () => {
        const { drafts, status } = await node.publish([someDeposit(ref)])
        seq = drafts[0]?.seq ?? 0
        return status === 200
      },
      TAKEOVER_MS,
    )
    return seq
  }

  test('that is killed is followed by another one within ten seconds, and loses nothing', async () => {
    const a = await start('a')
    assert.equal(await untilTaken(a, 'one'), 2)
    const b = await start('b')
    assert.equal((await b.publish([someDeposit('early')])).code, 'not-leading')
    await a.end('SIGKILL')
    assert.equal(await untilTaken(b, 'two'), 3)
    const again = await start('a')
    await until('it follows', async () => (await readLines(again.url, 0)).length === 3)
    assert.deepEqual(await readLines(again.url, 0), await readLines(b.url, 0))
    assert.equal(await isReady(again.publishUrl), false)

    const ended = await b.end('SIGTERM')
    assert.deepEqual(ended, { code: 0, signal: null })
    assert.match(b.stderr(), /"fact":"log-left"/)
    assert.equal(await untilTaken(again, 'two'), 3, 'the ref is known')
    assert.equal(await untilTaken(again, 'three'), 4)
    await again.end('SIGTERM')
  })

  test('does not know the outcome of a commit that is cut off, and the draft is published once', async () => {
    const relay = stack.use(await openRelay(() => new URL(table.url).href))
    const { port } = new URL(relay.url)
    const a = await start('a', table.url.replace(/:\d+\//, `:${port}/`))
    const seq = await untilTaken(a, 'before')
    const cutter = setInterval(() => relay.cut(), 1)
    const cut = await a.publish([someDeposit('doubtful')])
    clearInterval(cutter)
    assert.equal(cut.status, 503)
    assert.match(cut.code, /^(?:outcome-unknown|not-leading)$/)
    const b = await start('b')
    await until('one of them publishes', async () => {
      const answers = await Promise.all([a, b].map((node) => node.publish([someDeposit('doubtful')])))
      return answers.some(({ drafts }) => drafts[0]?.seq === seq + 1)
    })
    await until('both have it', async () => {
      const heads = await Promise.all([a, b].map(async ({ url }) => (await readLines(url, 0)).length))
      return heads.every((head) => head === seq + 1)
    })
    const paths = ['events?limit=1000', 'log/checkpoint']
    assert.deepEqual(await answersOf(a.url, paths), await answersOf(b.url, paths))
  })
})
