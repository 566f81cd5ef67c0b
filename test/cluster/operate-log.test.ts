import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { readHighWater } from '../../src/log/store/high-water.ts'
import { treeInNote } from '../../src/log/tree/served-tree.ts'
import { keptSchemas, unpackKept } from '../books/kept-store.ts'
import { NATS_NEEDED, NATS_SERVER } from '../engine/nats-program.ts'
import { startNatsRig, until } from '../engine/nats-rig.ts'
import { run } from '../stage/command-stage.ts'
import type { NodeProcess } from '../stage/node-process.ts'
import { readLines, startNode } from '../stage/node-process.ts'
import { skipUnless } from '../stage/test-needs.ts'

const ready = { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED) }

suite('the operation of a log on an engine', { timeout: 120_000, ...ready }, () => {
  let rig: Awaited<ReturnType<typeof startNatsRig>>
  const folder = mkdtempSync(join(tmpdir(), 'daybook-operate-'))
  const kept = unpackKept(keptSchemas().at(-1) ?? 0)
  /** Nodes that go on running from one test to the next. */
  const nodes: NodeProcess[] = []
  before(async () => {
    rig = await startNatsRig()
    await rig.make(1)
    writeFileSync(join(folder, 'running.seed'), rig.running, { mode: 0o600 })
    const moved = await run(['cluster', 'move', '--data', kept.data, ...engine()])
    assert.equal(moved.code, 0, moved.stderr)
  })
  after(async () => {
    for (const node of nodes) await node.end('SIGKILL')
    await rig[Symbol.asyncDispose]()
    kept[Symbol.dispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const engine = (): readonly string[] => [
    '--log-store',
    `nats://${rig.brokers.map(({ url }) => url).join(',')}`,
    '--log-store-credentials',
    join(folder, 'running.seed'),
  ]
  const start = (data: string, name: string): Promise<NodeProcess> =>
    startNode(data, [...engine(), '--node-name', name], [], 'cluster')

  /** Publishes a deposit as soon as the node takes drafts. Returns its seq. */
  async function publish(node: NodeProcess, ref: string): Promise<number> {
    let seq = 0
    await until('the node publishes', async () => {
      const answer = await node.publish([{ ref, type: 'treasury', kind: 'deposit', kots: '1' }])
      seq = answer.drafts[0]?.seq ?? 0
      return answer.status === 200
    })
    return seq
  }

  const hasSeq = async (node: NodeProcess, seq: number): Promise<boolean> =>
    (await readLines(node.url, seq - 1)).length > 0

  test('is checked from the engine alone, and against a data directory', async () => {
    const alone = await run(['cluster', 'check', ...engine()])
    assert.equal(alone.code, 0, alone.stderr)
    assert.match(alone.stdout, /messages follow each other up to seq \d+ of log [0-9a-f]+\nsigned with /)
    const compared = await run(['cluster', 'check', '--data', kept.data, ...engine()])
    assert.match(compared.stdout, /and the store agrees with them/)
    const whole = await run(['check', '--data', kept.data, ...engine()])
    assert.equal(whole.code, 0, whole.stderr)
    assert.match(whole.stdout, /every table agrees.*\n.*the store agrees with them/)
    const missing = await run(['cluster', 'check', '--stream', '7', ...engine()])
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /daybook-7/)
    assert.equal((await run(['cluster', 'check'])).code, 2)
  })

  test('has backups with their place, from which a node joins again', async () => {
    const copy = join(folder, 'copy.db')
    const backup = await run(['backup', '--data', kept.data, '--to', copy])
    assert.equal(backup.code, 0, backup.stderr)
    const alone = await start(kept.data, 'first')
    const seq = await publish(alone, 'after the backup')
    await alone.end('SIGTERM')

    const over = await run(['restore', '--data', kept.data, '--from', copy])
    assert.equal(over.code, 0, over.stderr)
    assert.match(over.stdout, /1 events after seq \d+ .* the node fetches them from its engine/)
    assert.match(over.stderr, /serve .* with its --log-store/)
    await assert.rejects(
      run(['serve', '--data', kept.data]),
      /this log is on an engine: serve it with --log-store/,
    )

    const restored = join(folder, 'restored')
    copyFileSync(`${kept.data}.key`, `${restored}.key`)
    assert.equal((await run(['restore', '--data', restored, '--from', copy])).code, 0)
    nodes.push(...(await Promise.all([start(kept.data, 'first'), start(restored, 'second')])))
    for (const node of nodes) await until('the node has what was published since', () => hasSeq(node, seq))

    const [first] = nodes
    assert.ok(first !== undefined)
    assert.equal(await publish(first, 'after the restore'), seq + 1)
    for (const node of nodes) await until('the node has it', () => hasSeq(node, seq + 1))
    await using connection = await rig.open(1)
    const place = await connection.log.last()
    for (const data of [kept.data, restored]) {
      const mark = readHighWater(data)
      assert.deepEqual([treeInNote(mark?.checkpoint ?? '').size, mark?.message?.place], [seq + 1, place])
    }
  })

  test('rolls to the next stream while its nodes run, and nothing is lost', async () => {
    const [first, second] = nodes
    assert.ok(first !== undefined && second !== undefined)
    const head = await publish(first, 'before the seal')
    const roll = (): ReturnType<typeof run> =>
      run(['cluster', 'roll', '--to', first.door, '--token-file', `${kept.data}.token`])
    const early = await roll()
    assert.equal(early.code, 1)
    assert.match(early.stderr, /stream 2 is not ready/)

    await rig.make(2)
    const rolled = await roll()
    assert.equal(rolled.code, 0, rolled.stderr)
    assert.match(rolled.stdout, new RegExp(`goes on in stream 2 after seq ${head}:`))
    const seqs = await Promise.all([publish(first, 'after, first'), publish(second, 'after, second')])
    assert.deepEqual(
      seqs.toSorted((one, other) => one - other),
      [head + 1, head + 2],
    )
    await until('both nodes have both', async () => {
      return (await hasSeq(first, head + 2)) && (await hasSeq(second, head + 2))
    })
    await Promise.all(nodes.map((node) => node.end('SIGTERM')))
    for (const [command, data] of [
      [['cluster', 'check'], kept.data],
      [['check'], join(folder, 'restored')],
    ] as const) {
      const checked = await run([...command, '--data', data, ...engine()])
      assert.equal(checked.code, 0, checked.stderr)
    }
    const whole = await run(['cluster', 'check', ...engine()])
    assert.match(whole.stdout, new RegExp(`up to seq ${head + 2} of log`))
  })
})
