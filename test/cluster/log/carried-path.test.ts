import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import type { ClusterNode } from '../../../src/cluster/node/cluster-node.ts'
import { openClusterNode } from '../../../src/cluster/node/open-node.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import type { CommitPath } from '../../../src/publish/commit-path.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import { openBookNodes } from '../book/book-nodes.ts'
import { type MemoryTable, type ModelLink, openMemoryTable } from '../model/memory-table.ts'
import { openCarriedPath } from '../../../src/cluster/log/cluster-log.ts'
import { readTablePlace } from '../../../src/cluster/row/kept-rows.ts'

const REF = { ref: 'one', digest: new Uint8Array(16) }

/** The path of a node with a real store, in virtual time, and calls of its listeners so far. */
type Told = Readonly<{
  table: MemoryTable
  link: ModelLink
  path: CommitPath
  calls: string[]
  sleep(ms: number): Promise<void>
  /** Runs a commit that publishes one event, or something else. Returns its code. */
  commit(build?: () => void): Promise<string>
  publish(): void
  place(): number | undefined
  end(): Promise<void>
}>

type Settings = Readonly<{ hasServed?: () => boolean; node?: null; isDiskFull?: boolean }>

async function tell(settings: Settings, story: (of: Told) => Promise<void>): Promise<void> {
  const { hasServed = () => true, isDiskFull = false } = settings
  using nodes = openBookNodes({ nodes: 1, asksChain: false, balances: 'refuse', now: () => msOf(0) })
  const clock = openModelClock()
  const table = openMemoryTable({
    clock,
    random: randomOf('path'),
    first: nodes.rows[0]?.bytes ?? assert.fail(),
  })
  const link = table.connect()
  const calls: string[] = []
  const book = nodes.node(0).book()
  let node: ClusterNode | null = null
  const carried = openCarriedPath({
    book,
    hasServed,
    node: () => node,
    isDiskFull: () => isDiskFull,
    onFull: () => void calls.push('full'),
    onBroken: ({ message }) => void calls.push(`broken: ${message}`),
  })
  const running = openClusterNode({
    table: link.table,
    book: carried.book,
    primary: null,
    timers: { now: clock.now, sleep: link.sleep },
    evidence: { keep: () => undefined },
    mayRetry: () => false,
    accepts: () => true,
    onBooks: (change) => void calls.push(change),
    onNotice: () => undefined,
  })
  if (settings.node !== null) node = running
  await clock.sleep(1_000)
  const publish = (): void => {
    calls.push('build')
    book.appender.append(tradeDraft('one'), REF, msOf(0))
    book.appender.write()
    assert.ok(carried.path.isOpen())
  }
  try {
    await story({
      table,
      link,
      path: carried.path,
      calls,
      sleep: clock.sleep,
      publish,
      place: () => readTablePlace(nodes.node(0).db())?.place,
      end: async () => running[Symbol.asyncDispose](),
      async commit(build = publish) {
        const ended = await carried.path.commit(1, build)
        calls.push('done')
        assert.ok(!carried.path.isOpen())
        return ended.ok ? 'committed' : ended.code
      },
    })
  } finally {
    await running[Symbol.asyncDispose]()
    clock.stop()
  }
}

suite('the path of commits to a table', () => {
  test('tells of a commit once that it is durable, before its end, and undoes nothing', () =>
    tell({}, async ({ calls, commit, place }) => {
      assert.equal(await commit(), 'committed')
      assert.deepEqual(calls, ['build', 'committed', 'done'])
      assert.equal(place(), 2)
    }))

  test('answers a commit without changes after a barrier', () =>
    tell({}, async ({ calls, commit, place }) => {
      assert.equal(await commit(() => void calls.push('look')), 'committed')
      assert.deepEqual(calls, ['look', 'undone', 'done'])
      assert.equal(place(), 1)
    }))

  test('builds nothing before the node runs, or before it has all that it has served', async () => {
    await tell({ node: null }, async ({ calls, commit }) => {
      assert.equal(await commit(), 'not-leading')
      assert.deepEqual(calls, ['done'])
    })
    let hasServed = false
    await tell({ hasServed: () => hasServed }, async ({ calls, commit }) => {
      assert.equal(await commit(), 'not-leading')
      assert.deepEqual(calls, ['done'])
      hasServed = true
      assert.equal(await commit(), 'committed')
    })
  })

  test('undoes a commit of unknown outcome once, and never calls it durable', () =>
    tell({}, async ({ calls, commit, place, table }) => {
      table.setStandby(false)
      assert.equal(await commit(), 'outcome-unknown')
      assert.deepEqual(calls, ['build', 'undone', 'done'])
      assert.equal(place(), 1)
    }))

  test('undoes a commit that another leader was faster with, and refuses the next one at once', () =>
    tell({}, async ({ calls, commit, table }) => {
      table.endSessions()
      assert.notEqual(await commit(), 'committed')
      assert.equal(calls.filter((call) => call === 'undone').length, calls.includes('build') ? 1 : 0)
      assert.ok(!calls.includes('committed'))
    }))

  test('names a wrong clock', () =>
    tell({}, async ({ calls, commit, sleep, table }) => {
      table.setClockOffset(6_000)
      await sleep(15_000)
      assert.equal(await commit(), 'clock')
      assert.deepEqual(calls, ['done'])
    }))

  test('names a node that has stopped until an operator acts', () =>
    tell({}, async ({ calls, commit, sleep, table }) => {
      table.replace([])
      await sleep(60_000)
      assert.equal(await commit(), 'store-unavailable')
      assert.deepEqual(calls, ['done'])
    }))

  test('undoes a commit on a full disk, which passes, and any other failure, which does not', async () => {
    const failing =
      (told: Told, errcode: number): (() => void) =>
      () => {
        told.publish()
        throw Object.assign(new Error('the disk fails'), { errcode })
      }
    await tell({}, async (told) => {
      assert.equal(await told.commit(failing(told, 13)), 'store-full')
      assert.deepEqual(told.calls, ['build', 'undone', 'full', 'done'])
      assert.equal(await told.commit(), 'committed', 'it goes on')
    })
    await tell({}, async (told) => {
      assert.equal(await told.commit(failing(told, 11)), 'store-unavailable')
      assert.deepEqual(told.calls, ['build', 'undone', 'broken: a commit failed', 'done'])
    })
    await tell({ isDiskFull: true }, async (told) => {
      assert.equal(await told.commit(failing(told, 778)), 'store-full')
    })
  })

  test('refuses commits after the node has ended', () =>
    tell({}, async ({ calls, commit, end }) => {
      await end()
      assert.equal(await commit(), 'not-leading')
      assert.deepEqual(calls, ['done'])
    }))
})
