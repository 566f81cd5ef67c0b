import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import type { NodeBook } from '../../../src/cluster/node/cluster-node.ts'
import { readBranches } from '../../../src/cluster/node/fork-branches.ts'
import { firstRow, openMemoryBook } from './memory-book.ts'
import { type MemoryTable, openMemoryTable } from './memory-table.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'
import { type ModelNode, openModelNode } from './model-node.ts'
import { NO_MUTANT } from './mutant.ts'

/** Three nodes of one log in virtual time, of which the first leads. */
type Story = Readonly<{
  table: MemoryTable
  leader: ModelNode
  others: readonly [ModelNode, ModelNode]
  sleep(ms: number): Promise<void>
  /** Publishes one draft, and returns how that ended. */
  publish(node: ModelNode, ref: string): Promise<string>
}>

async function tell(
  story: (of: Story) => Promise<void>,
  own: Partial<Parameters<typeof openModelNode>[1]> = {},
): Promise<void> {
  const clock = openModelClock()
  const first = firstRow()
  const table = openMemoryTable({ clock, random: randomOf('story'), first })
  const parts = { table, clock, first, onSigned: () => undefined, mutant: NO_MUTANT, ...own }
  const leader = openModelNode('A', parts)
  const others = [openModelNode('B', parts), openModelNode('C', parts)] as const
  leader.start()
  await clock.sleep(1_000)
  for (const node of others) node.start()
  await clock.sleep(1_000)
  try {
    await story({
      table,
      leader,
      others,
      sleep: clock.sleep,
      async publish(node, ref) {
        const result = await node.submit([{ ref, needs: null, attempt: ref }])
        return result === 'died' ? result : result.is
      },
    })
  } finally {
    for (const node of [leader, ...others]) node.crash()
    clock.stop()
  }
}

const leads = (node: ModelNode): boolean => node.run()?.node.state().leads ?? false
const refusalOf = (node: ModelNode): string => node.run()?.node.state().refusal ?? ''
const stopOf = (node: ModelNode): string | undefined => node.run()?.node.state().stopped?.is
const hasAll = ({ table }: Story, node: ModelNode): boolean => node.disk.rows.length === table.rows().length

suite('a node of a log on a table', () => {
  test('takes drafts when it leads, and refuses them otherwise', () =>
    tell(async ({ leader, others, publish }) => {
      assert.equal(await publish(leader, 'one'), 'committed')
      assert.equal(await publish(others[0], 'two'), 'not-leading')
      assert.equal(refusalOf(others[0]), 'another node leads')
    }))

  for (const [end, what] of [
    [(node: ModelNode) => node.crash(), 'is killed'],
    [(node: ModelNode) => node.run()?.link.cut(), 'is parted from the database'],
    [(node: ModelNode) => node.run()?.link.pause(30_000), 'is stopped'],
  ] as const) {
    test(`takes over within ten seconds when the leader ${what}`, () =>
      tell(async ({ leader, others, publish, sleep }) => {
        assert.equal(await publish(leader, 'one'), 'committed')
        end(leader)
        await sleep(10_000)
        assert.equal(others.filter(leads).length, 1)
        const [next] = others.filter(leads)
        assert.ok(next !== undefined)
        assert.equal(await publish(next, 'two'), 'committed')
      }))
  }

  test('appends nothing when it was stopped for longer than its session lasts, and follows', () =>
    tell(async (of) => {
      const { leader, others, publish, sleep, table } = of
      leader.run()?.link.pause(15_000)
      const late = publish(leader, 'late')
      await sleep(12_000)
      const [next] = others.filter(leads)
      assert.ok(next !== undefined)
      assert.equal(await publish(next, 'one'), 'committed')
      assert.notEqual(await late, 'committed')
      await sleep(5_000)
      assert.equal(table.rows().length, 2)
      assert.ok(hasAll(of, leader) && !leads(leader))
    }))

  test('acknowledges nothing that no standby has, and repeats nothing afterwards', () =>
    tell(async (of) => {
      const { leader, others, publish, sleep, table } = of
      table.setStandby(false)
      assert.equal(await publish(leader, 'one'), 'unknown')
      table.setStandby(true)
      await sleep(10_000)
      const next = [leader, ...others].find(leads)
      assert.ok(next !== undefined)
      assert.equal(await publish(next, 'one'), 'committed')
      assert.equal(table.rows().length, 2)
    }))

  test('does not believe a wait that ends without the standby', () =>
    tell(async ({ leader, publish, sleep, table }) => {
      table.setStandby(false)
      const answer = publish(leader, 'one')
      await sleep(500)
      table.releaseWaits()
      assert.equal(await answer, 'unknown')
    }))

  test('knows no end of the log while no standby confirms it', () =>
    tell(async ({ others, sleep, table }) => {
      assert.equal(await others[0].run()?.node.barrier(), true)
      table.setStandby(false)
      await sleep(500)
      assert.equal(await others[0].run()?.node.barrier(), false)
      await sleep(8_000)
      assert.match(others[0].run()?.node.state().away ?? '', /^no (?:synchronous )?standby/)
      table.setStandby(true)
      await sleep(3_000)
      assert.equal(others[0].run()?.node.state().away, null)
    }))

  test('knows no end of the log while the table lacks rows that it or another node has', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      const [whole, behind] = others
      behind.crash()
      for (const ref of ['one', 'two', 'three']) assert.equal(await publish(leader, ref), 'committed')
      await sleep(1_000)
      table.loseTail(2)
      behind.start()
      assert.equal(await whole.run()?.node.barrier(), false)
      assert.equal(await behind.run()?.node.barrier(), false)
      await sleep(30_000)
      assert.equal(await whole.run()?.node.barrier(), true)
      assert.equal(await behind.run()?.node.barrier(), true)
    }))

  test('does not lead when its clock and that of the database differ by five seconds', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      table.setClockOffset(5_000)
      await sleep(15_000)
      assert.deepEqual([leader, ...others].filter(leads), [])
      assert.match([leader, ...others].map(refusalOf).join(), /clocks .* differ by 5 s or more/)
      const answers = await Promise.all([leader, ...others].map((node) => publish(node, 'one')))
      assert.ok(answers.includes('clock'), answers.join())
      table.setClockOffset(1_000)
      await sleep(15_000)
      assert.equal([leader, ...others].filter(leads).length, 1)
    }))

  test('puts back what the table has lost, at the same places, before anyone appends', () =>
    tell(async (of) => {
      const { leader, others, publish, sleep, table } = of
      for (const ref of ['one', 'two', 'three']) assert.equal(await publish(leader, ref), 'committed')
      const before = table.rows().map(({ bytes }) => Buffer.from(bytes).toString())
      await sleep(1_000)
      table.loseTail(2)
      await sleep(30_000)
      const after = table.rows().map(({ bytes }) => Buffer.from(bytes).toString())
      assert.deepEqual(after, before)
      const next = [leader, ...others].find(leads)
      assert.ok(next !== undefined)
      assert.equal(await publish(next, 'four'), 'committed')
      await sleep(1_000)
      assert.ok([leader, ...others].every((node) => hasAll(of, node)))
    }))

  test('stops at an empty table, and does not refill it', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      assert.equal(await publish(leader, 'one'), 'committed')
      await sleep(1_000)
      table.replace([])
      await sleep(40_000)
      assert.deepEqual([leader, ...others].map(stopOf), ['lost', 'lost', 'lost'])
      assert.deepEqual(table.rows(), [])
    }))

  test('stops at a row that does not continue its log, and keeps both', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      assert.equal(await publish(leader, 'one'), 'committed')
      await sleep(1_000)
      const foreign = Buffer.from(JSON.stringify({ place: 3, prev: '11'.repeat(32), drafts: [] }))
      table.replace([...table.rows(), { place: 3, bytes: foreign }])
      await sleep(30_000)
      for (const node of others) {
        assert.equal(stopOf(node), 'fork')
        assert.match(refusalOf(node), /the row at place 3 does not continue the log/)
        assert.deepEqual(node.evidence.get('table')?.at(-1)?.bytes, foreign)
        assert.equal(await publish(node, 'two'), 'stopped')
      }
    }))

  test('stops when the log was taken off its table', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      assert.equal(await publish(leader, 'one'), 'committed')
      const prev = createHash('sha256').update(table.rows()[1]!.bytes).digest('hex')
      const end = Buffer.from(JSON.stringify({ place: 3, prev, drafts: [], isEnd: true }))
      leader.crash()
      table.replace([...table.rows(), { place: 3, bytes: end }])
      await sleep(20_000)
      assert.deepEqual(others.map(stopOf), ['ended', 'ended'])
      assert.equal(await publish(others[0], 'two'), 'stopped')
      assert.equal(table.rows().length, 3)
    }))

  test('answers nothing from its books alone when another node has taken over meanwhile', () =>
    tell(async ({ leader, others, publish, sleep }) => {
      leader.run()?.link.pause(15_000)
      const late = leader.submit([{ ref: 'late', needs: 'one', attempt: 'late' }])
      await sleep(12_000)
      const next = others.find(leads)
      assert.ok(next !== undefined)
      assert.equal(await publish(next, 'one'), 'committed')
      const answer = await late
      assert.ok(answer !== 'died' && answer.is === 'not-leading')
    }))

  test('applies the rows before the one that does not continue its log', () =>
    tell(async ({ leader, others: [node], publish, sleep, table }) => {
      node.crash()
      for (const ref of ['one', 'two']) assert.equal(await publish(leader, ref), 'committed')
      const foreign = Buffer.from(JSON.stringify({ place: 4, prev: '11'.repeat(32), drafts: [] }))
      table.replace([...table.rows(), { place: 4, bytes: foreign }])
      node.start()
      await sleep(1_000)
      assert.equal(stopOf(node), 'fork')
      assert.equal(node.disk.rows.length, 3)
    }))

  test('stops when a shortened table ends with another row, and puts nothing behind it', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      for (const ref of ['one', 'two']) assert.equal(await publish(leader, ref), 'committed')
      await sleep(1_000)
      const [begin] = table.rows()
      assert.ok(begin !== undefined)
      const other = Buffer.from(JSON.stringify({ place: 2, prev: '11'.repeat(32), drafts: [] }))
      table.replace([begin, { place: 2, bytes: other }])
      leader.crash()
      await sleep(60_000)
      assert.deepEqual(others.map(stopOf), ['fork', 'fork'])
      assert.equal(table.rows().length, 2)
    }))

  test('appends nothing for fifteen seconds after the promotion of a standby', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      assert.equal(await publish(leader, 'one'), 'committed')
      table.failover('sync')
      await sleep(14_000)
      assert.deepEqual([leader, ...others].filter(leads), [])
      assert.match(refusalOf(leader), /the table has changed/)
      await sleep(6_000)
      assert.equal([leader, ...others].filter(leads).length, 1)
    }))

  test('leaves the lead to others after a commit in doubt, for three seconds when nobody leads', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      for (const node of others) node.crash()
      table.setStandby(false)
      assert.equal(await publish(leader, 'one'), 'unknown')
      table.setStandby(true)
      await sleep(2_000)
      assert.ok(!leads(leader))
      assert.equal(refusalOf(leader), 'this node has just lost the lead')
      await sleep(4_000)
      assert.ok(leads(leader))
    }))

  test('stops when its disk is broken, and what it appended is published once', () =>
    tell(async ({ leader, others, publish, sleep, table }) => {
      leader.disk.isBroken = true
      assert.equal(await publish(leader, 'one'), 'unknown')
      await sleep(10_000)
      assert.equal(stopOf(leader), 'local')
      const next = others.find(leads)
      assert.ok(next !== undefined)
      assert.equal(await publish(next, 'one'), 'committed')
      assert.equal(table.rows().length, 2)
    }))

  test('leads no longer without drafts when no standby confirms the table', () =>
    tell(async ({ leader, others, sleep, table }) => {
      table.setStandby(false)
      await sleep(10_000)
      assert.deepEqual([leader, ...others].filter(leads), [])
      assert.notEqual(refusalOf(leader), '', 'no balancer sends drafts there')
      table.setStandby(true)
      await sleep(10_000)
      assert.equal([leader, ...others].filter(leads).length, 1)
    }))

  test('puts its rows back also when it takes no drafts, because others wait for that', () =>
    tell(async ({ leader, others: [other, third], publish, sleep, table }) => {
      for (const node of [other, third]) node.crash()
      for (const ref of ['one', 'two']) assert.equal(await publish(leader, ref), 'committed')
      leader.disk.isTight = true
      table.loseTail(1)
      other.start()
      await sleep(60_000)
      assert.equal(leads(leader), false)
      assert.equal(table.rows().length, 3)
      assert.equal(await publish(other, 'three'), 'committed')
    }))

  test('shows no place for which others would wait while it reads the branches of a fork', () =>
    tell(async ({ leader, table }) => {
      const [stopped, other] = [table.connect(), table.connect()]
      leader.crash()
      await stopped.table.look(1, 1_000, 9)
      assert.equal((await other.table.look(1, 1_000, 1)).shown, 9)
      await readBranches(
        openMemoryBook(leader.disk, () => undefined),
        stopped.table,
      )
      assert.ok((await other.table.look(1, 1_000, 1)).shown < 9)
    }))

  test('answers a commit also when its disk fails after it, and stops', () => {
    const broken = (): never => {
      throw new Error('EIO')
    }
    const onBooks = (change: string): void => void (change === 'committed' && broken())
    return tell(
      async ({ leader, publish, sleep }) => {
        assert.equal(await publish(leader, 'one'), 'unknown')
        await sleep(1_000)
        assert.equal(stopOf(leader), 'local')
      },
      { onBooks },
    )
  })

  test('answers a commit of nothing also when its transaction cannot be ended, and stops', () => {
    const book = (own: NodeBook): NodeBook => ({
      ...own,
      rollback() {
        throw new Error('EIO')
      },
    })
    return tell(
      async ({ leader, sleep }) => {
        const answer = await leader.submit([])
        assert.ok(answer !== 'died' && answer.is === 'unknown')
        await sleep(1_000)
        assert.equal(stopOf(leader), 'local')
      },
      { mutant: { ...NO_MUTANT, book } },
    )
  })
})
