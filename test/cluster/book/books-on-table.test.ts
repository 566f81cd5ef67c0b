import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import type { ClusterNode, NodeNotice } from '../../../src/cluster/node/cluster-node.ts'
import { openClusterNode } from '../../../src/cluster/node/open-node.ts'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { faultOfKeptRows } from '../../../src/cluster/row/compare-rows.ts'
import { faultAtStart } from '../../../src/log/tree/log-fault.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { type ModelClock, openModelClock } from '../../stage/virtual-clock.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import {
  MANY_FAULTS,
  type MemoryTable,
  type ModelLink,
  NO_FAULTS,
  openMemoryTable,
} from '../model/memory-table.ts'
import { assertSameTables, type BookNodes, openBookNodes } from './book-nodes.ts'
import { setDiskFull } from './full-disk.ts'

const NODES = 3
const STEPS = 120

type Running = Readonly<{ node: ClusterNode; link: ModelLink }>

/** A log in memory, and the nodes with their stores in virtual time. */
type Company = Readonly<{
  books: BookNodes
  clock: ModelClock
  table: MemoryTable
  nodes: Running[]
  notices: NodeNotice[]
}>

function openCompany(seed: string): Company {
  const now = () => msOf(Date.UTC(2026, 0, 1))
  const books = openBookNodes({ nodes: NODES, asksChain: false, balances: 'refuse', now })
  const clock = openModelClock()
  const first = books.rows[0]?.bytes ?? assert.fail()
  const table = openMemoryTable({ clock, random: randomOf(seed), first })
  const company: Company = { books, clock, table, nodes: [], notices: [] }
  for (const index of books.nodes.keys()) company.nodes.push(open(company, index))
  return company
}

function open({ books, clock, notices, table }: Company, index: number): Running {
  const link = table.connect()
  const node = openClusterNode({
    book: books.node(index).book(),
    table: link.table,
    primary: null,
    timers: { now: clock.now, sleep: link.sleep },
    evidence: { keep: () => assert.fail('no branch of a fork') },
    mayRetry: isDiskFull,
    accepts: () => true,
    onBooks: () => undefined,
    onNotice: (notice) => void notices.push(notice),
  })
  return { node, link }
}

/** Publishes drafts on a node, those that are not published already. Returns how that ended. */
async function publish({ books, nodes }: Company, index: number, refs: readonly string[]): Promise<string> {
  const { appender } = books.node(index).book()
  const build = (): void => {
    const atMs = msOf(Date.UTC(2026, 0, 1 + appender.head().seq))
    for (const ref of refs)
      if (appender.published(ref) === undefined)
        appender.append(tradeDraft(ref), { ref, digest: new Uint8Array(16) }, atMs)
    appender.write()
  }
  try {
    return (await nodes[index]?.node.commit(build))?.is ?? 'none'
  } catch (error) {
    assert.ok(isDiskFull(error), String(error))
    return 'failed'
  }
}

const SQLITE_FULL = 13
const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL

async function runSteps(company: Company, random: ReturnType<typeof randomOf>): Promise<Set<string>> {
  const { books, clock, nodes, table } = company
  const acknowledged = new Set<string>()
  const pick = (below: number): number => Math.floor(random.next() * below)
  for (let step = 0; step < STEPS; step += 1) {
    const index = pick(NODES)
    const running = nodes[index]
    assert.ok(running !== undefined)
    const kind = random.next()
    if (kind < 0.05) table.setFaults(pick(2) === 0 ? MANY_FAULTS : NO_FAULTS)
    else if (kind < 0.09) running.link.pause(1_000 + pick(12_000))
    else if (kind < 0.14) setDiskFull(books.node(index).db(), true)
    else if (kind < 0.18) {
      setDiskFull(books.node(index).db(), false)
      await running.node[Symbol.asyncDispose]()
      books.node(index).restart()
      nodes[index] = open(company, index)
    } else if (kind < 0.2) table.failover('sync')
    else {
      const refs = Array.from({ length: 1 + pick(4) }, () => `ref-${pick(200)}`)
      const unique = [...new Set(refs)]
      const ends = await Promise.all(nodes.keys().map((at) => publish(company, at, unique)))
      if (ends.includes('committed')) for (const ref of unique) acknowledged.add(ref)
    }
    await clock.sleep(pick(4_000))
    if (step % 10 === 0) for (const node of books.nodes) setDiskFull(node.db(), false)
  }
  return acknowledged
}

/** Asserts that all stores have what the table has, and all that was acknowledged. */
function assertSame({ books, table }: Company, acknowledged: ReadonlySet<string>): void {
  const [first] = books.nodes
  assert.ok(first !== undefined)
  const { appender, kept } = first.book()
  for (const ref of acknowledged) assert.ok(appender.published(ref) !== undefined, `${ref} is missing`)
  assert.deepEqual(kept(1).map(hexOf), table.rows().map(hexOf))
  for (const { db } of books.nodes) {
    assertSameTables(first.db(), db())
    assert.equal(faultAtStart(db(), null), null)
    assert.equal(faultOfKeptRows(db()), null)
  }
}

function hexOf({ bytes }: TableRow): string {
  return Buffer.from(bytes).toString('hex')
}

suite('stores whose nodes share a table', () => {
  const met = { acknowledged: 0, notices: new Set<NodeNotice['is']>() }
  for (const seed of ['two', 'four']) {
    test(`have the same rows in every table, and all that was acknowledged (seed ${seed})`, async () => {
      const company = openCompany(seed)
      const { clock, nodes, notices, table } = company
      using books = company.books
      try {
        const acknowledged = await runSteps(company, randomOf(`steps ${seed}`))
        table.setFaults(NO_FAULTS)
        for (const node of books.nodes) setDiskFull(node.db(), false)
        await clock.sleep(60_000)
        for (const { node } of nodes) assert.equal(node.state().stopped, null)
        await Promise.all(nodes.map(({ node }) => node[Symbol.asyncDispose]()))
        assertSame(company, acknowledged)
        met.acknowledged += acknowledged.size
        for (const { is } of notices) met.notices.add(is)
      } finally {
        clock.stop()
      }
    })
  }

  test('have met what these tests are about', () => {
    assert.ok(met.acknowledged > 100, `${met.acknowledged} drafts`)
    for (const is of ['leads', 'left', 'local-failure', 'away'] as const) assert.ok(met.notices.has(is), is)
  })
})
