import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMemoryEngine } from '../../../test/engine/memory-engine.ts'
import type { BookCluster } from '../../../test/messages/book-cluster.ts'
import { openCluster } from '../../../test/messages/book-cluster.ts'
import { QUIET_QUEUE } from '../../../test/messages/quiet-queue.ts'
import { readIdentity } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { openCommitQueue } from '../commits/commit-queue.ts'
import type { Replica } from '../replica/replica.ts'
import { openReplica } from '../replica/replica.ts'
import { commitStep } from './commit-step.ts'
import { openReplicatedPath } from './replicated-path.ts'

suite('the path of commits to an engine', () => {
  test('takes nothing while the books lack events that the node has served', () => {
    using cluster = openCluster({ nodes: 1, asksChain: false, balances: 'refuse', now: () => msOf(0) })
    let hasServed = false
    let asked = 0
    const { path } = openReplicatedPath({
      book: cluster.node(0).book(),
      hasServed: () => hasServed,
      replica() {
        asked += 1
        return null
      },
      isDiskFull: () => false,
      onFull: assert.fail,
      onBroken: assert.fail,
    })
    const reasons: string[] = []
    const publish = (): void =>
      path.commit({ drafts: 1, build: assert.fail, durable: assert.fail, undone: assert.fail }, (end) => {
        assert.ok(end.is === 'failed' && !end.outcome.ok && end.outcome.code === 'behind')
        reasons.push(end.outcome.reason)
      })
    publish()
    assert.equal(asked, 0)
    hasServed = true
    publish()
    assert.equal(asked, 1)
    assert.match(reasons[0] ?? '', /^this node lacks events that it has served/)
  })
  test('wakes the readers of held drafts after a step of the operator', async () => {
    using cluster = openCluster({ nodes: 1, asksChain: true, balances: 'refuse', now: () => msOf(0) })
    await using writer = openWriter(cluster)
    const { book, path, queue, replica } = writer
    while (!replica.state().isHeard || replica.state().engine.complaints === null) await sleep(5)
    const step = commitStep({ path }, () => book.build({ is: 'version', frames: 1, needs: '0.1.0' }))
    while (!path.isOpen()) await sleep(1)
    const read = queue.held.quiet().then(() => queue.held.asked())
    writer.accept()
    assert.deepEqual(await step, { is: 'committed', built: undefined })
    assert.deepEqual(await Promise.race([read, sleep(2_000, 'still waits', { ref: false })]), [])
  })
})

/** Speed of the clock of the writer. Its replica hears the others for seconds. */
const SPEED = 10

/** The first node of the cluster, as a writer on an engine that takes messages after `accept`. */
function openWriter(cluster: BookCluster) {
  const timers = {
    now: (): number => performance.now() * SPEED,
    sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
      sleep(ms / SPEED, undefined, signal === undefined ? {} : { signal }),
  }
  const engine = openMemoryEngine({ clock: timers, random: Math.random }).connect()
  const { log } = engine
  const accepting = Promise.withResolvers<void>()
  const append: typeof log.append = async (place, bytes) => {
    await accepting.promise
    return log.append(place, bytes)
  }
  for (const { place, bytes } of cluster.messages) void log.append(place, bytes)
  const connection = { ...engine, log: { ...log, append } }
  const node = cluster.node(0)
  const book = node.book()
  let replica: Replica | null = null
  const opened = openReplicatedPath({
    book,
    replica: () => replica,
    hasServed: () => true,
    isDiskFull: () => false,
    onFull: assert.fail,
    onBroken: assert.fail,
  })
  const { appender, held, tables } = book
  const surroundings = { asksChain: true, balances: 'refuse', now: () => msOf(0) } as const
  const queue = openCommitQueue({
    ...QUIET_QUEUE,
    ...surroundings,
    path: opened.path,
    appender,
    held,
    tables,
  })
  const logId = readIdentity(node.db()).id
  const own = {
    node: 'a',
    run: 'a1',
    logId,
    stream: 1,
    seq: 0,
    root: '',
    program: '',
    frames: [1],
    keys: [],
    rules: '',
  }
  const running = openReplica({
    book: opened.book,
    connection,
    timers,
    random: Math.random,
    own: () => own,
    keys: book.keys,
    nowMs: () => 0,
    known: { names: () => [], add: () => undefined },
    evidence: { keep: () => assert.fail('there is no fork') },
    mayRetry: () => false,
    accepts: () => true,
    onBooks: queue.changed,
    onNotice: () => undefined,
  })
  replica = running
  return {
    book,
    path: opened.path,
    queue,
    replica: running,
    accept: accepting.resolve,
    [Symbol.asyncDispose]: running[Symbol.asyncDispose],
  }
}
