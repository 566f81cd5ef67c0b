import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { readHighWater } from '../../src/log/store/high-water.ts'
import { treeInNote } from '../../src/log/tree/served-tree.ts'
import { NATS_NEEDED, NATS_SERVER } from '../engine/nats-program.ts'
import { until } from '../processes/other-program.ts'
import type { RunResult } from '../stage/command-stage.ts'
import { run } from '../stage/command-stage.ts'
import { textOf } from '../stage/document.ts'
import type { NodeProcess } from '../stage/node-process.ts'
import { readLines } from '../stage/node-process.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { openOperatedLog, publishDeposit, untilSeq } from './operated-log.ts'

/** Time that a loaded machine needs to end a process, beyond the limit of 20 seconds. */
const SLOW_END_MS_MAX = 10_000
const ready = { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED) }

/** Runs a command that must succeed. */
async function done(...words: readonly string[]): Promise<RunResult> {
  const result = await run(words)
  assert.equal(result.code, 0, `${words.join(' ')}: ${result.stderr}`)
  return result
}

const takesDrafts = async (node: NodeProcess): Promise<boolean> =>
  (await fetch(`${node.door}/readyz?for=publish`)).status === 200

// One log through its life: each test goes on where the one before it ended.
suite('the operation of a log on an engine', { timeout: 400_000, ...ready }, () => {
  let log: Awaited<ReturnType<typeof openOperatedLog>>
  /** Data directories of two writers. */
  let [first, second] = ['', '']
  /** Nodes that go on running from one test to the next. */
  let nodes: readonly NodeProcess[] = []
  before(async () => {
    log = await openOperatedLog()
    await log.make(1)
    first = log.data
    second = join(log.folder, 'second')
  })
  after(() => log[Symbol.asyncDispose]())

  const startBoth = async (): Promise<readonly [NodeProcess, NodeProcess]> => {
    const both = await Promise.all([log.start(first, 'first'), log.start(second, 'second')])
    nodes = both
    return both
  }
  const endBoth = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.end('SIGTERM')))
  }

  test('begins with a move onto the engine, and other writers join', async () => {
    const move = (stop?: AbortSignal): ReturnType<typeof run> =>
      run(['cluster', 'move', '--data', first, ...log.engine], stop && { stop })
    const cut = await move(AbortSignal.abort())
    assert.equal(cut.code, 1, cut.stderr)
    assert.match(cut.stderr, /stopped: the same command goes on/)
    const moved = await move()
    assert.equal(moved.code, 0, moved.stderr)
    const [, head = ''] = /on the engine up to seq (\d+), in \d+ messages/.exec(moved.stdout) ?? []
    assert.match((await move()).stderr, /this log is on an engine already/)
    await assert.rejects(run(['serve', '--data', first]), /on an engine: serve it with --log-store/)

    mkdirSync(second)
    copyFileSync(`${first}.key`, `${second}.key`)
    // It is killed while it joins.
    await (await log.start(second, 'second')).end('SIGKILL')
    const joined = await log.start(second, 'second')
    await untilSeq(joined, Number(head))
    await joined.end('SIGTERM')
  })

  test('is checked from the engine alone, and against a data directory', async () => {
    const alone = await done('cluster', 'check', ...log.engine)
    assert.match(alone.stdout, /messages follow each other up to seq \d+ of log [0-9a-f]+\nsigned with /)
    const compared = await done('cluster', 'check', '--data', first, ...log.engine)
    assert.match(compared.stdout, /and the store agrees with them/)
    const whole = await done('check', '--data', first, ...log.engine)
    assert.match(whole.stdout, /every table agrees.*\n.*the store agrees with them/)
    const missing = await run(['cluster', 'check', '--stream', '7', ...log.engine])
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /daybook-7/)
    assert.equal((await run(['cluster', 'check'])).code, 2)
  })

  test('has backups with their place, from which a node joins again', async () => {
    const copy = join(log.folder, 'copy.db')
    await done('backup', '--data', first, '--to', copy)
    const node = await log.start(first, 'first')
    const seq = await publishDeposit(node, 'after the backup')
    await node.end('SIGTERM')
    const over = await done('restore', '--data', first, '--from', copy)
    assert.match(over.stdout, /lacks 1 event after seq \d+, .* the node fetches them from its engine/)
    assert.match(over.stderr, /serve .* with its --log-store/)
    await assert.rejects(run(['serve', '--data', first]), /on an engine: serve it with --log-store/)
    rmSync(second, { recursive: true })
    await done('restore', '--data', second, '--from', copy)
    const [one] = await startBoth()
    for (const restored of nodes) await untilSeq(restored, seq)
    assert.equal(await publishDeposit(one, 'after the restore'), seq + 1)
    for (const restored of nodes) await untilSeq(restored, seq + 1)
    const last = await log.last(1)
    for (const data of [first, second]) {
      const mark = readHighWater(data)
      assert.deepEqual([treeInNote(mark?.checkpoint ?? '').size, mark?.message?.place], [seq + 1, last])
    }
  })

  test('ends in 20 seconds without its engine, and its next start settles what it left', async () => {
    const [, node] = nodes
    assert.ok(node !== undefined)
    const head = await publishDeposit(node, 'before the pause')
    for (const broker of log.brokers) broker.pause()
    const sent = node.publish([{ ref: 'left', type: 'treasury', kind: 'deposit', kots: '1' }])
    const answer = sent.catch(() => null)
    await until('its outcome is unknown', async () => {
      const metrics = await (await fetch(`${node.door}/metrics`)).text()
      return /^daybook_append_unsettled_seconds [^0]/m.test(metrics)
    })
    const beganMs = performance.now()
    const { code } = await node.end('SIGTERM')
    assert.ok(performance.now() - beganMs < 20_000 + SLOW_END_MS_MAX, 'in time')
    assert.equal(code, 0)
    assert.match(node.stderr(), /a commit has no outcome yet: the next start reads it/)
    assert.notEqual((await answer)?.status, 200)
    for (const broker of log.brokers) broker.resume()
    const again = await log.start(second, 'second')
    nodes = [...nodes.slice(0, 1), again]
    assert.equal(await publishDeposit(again, 'left'), head + 1)
    assert.equal(await publishDeposit(again, 'after the pause'), head + 2)
  })

  test('rolls to the next stream while its nodes run, and nothing is lost', async () => {
    const [one, other] = nodes
    assert.ok(one !== undefined && other !== undefined)
    const head = await publishDeposit(one, 'before the seal')
    const roll = (): ReturnType<typeof run> =>
      run(['cluster', 'roll', '--to', one.door, '--token-file', `${first}.token`])
    const early = await roll()
    assert.equal(early.code, 1)
    assert.match(early.stderr, /stream 2 is not ready/)
    await log.make(2)
    const rolled = await roll()
    assert.equal(rolled.code, 0, rolled.stderr)
    assert.match(rolled.stdout, new RegExp(`goes on in stream 2 after seq ${head}:`))
    const seqs = await Promise.all([
      publishDeposit(one, 'after, first'),
      publishDeposit(other, 'after, second'),
    ])
    assert.deepEqual(
      seqs.toSorted((low, high) => low - high),
      [head + 1, head + 2],
    )
    for (const node of nodes) await untilSeq(node, head + 2)
    await endBoth()
    await done('cluster', 'check', '--data', first, ...log.engine)
    await done('check', '--data', second, ...log.engine)
    const whole = await done('cluster', 'check', ...log.engine)
    assert.match(whole.stdout, new RegExp(`up to seq ${head + 2} of log`))
  })

  test('goes on with the branch that the operator adopts after a fork, by the commands of the document', async () => {
    forgetWriters(first)
    const alone = await log.start(first, 'first')
    const lost = await publishDeposit(alone, 'of the first')
    await alone.end('SIGKILL')
    await log.loseTail(2, 1)
    forgetWriters(second)
    const survivor = await log.start(second, 'second')
    assert.equal(await publishDeposit(survivor, 'of the second'), lost)
    const late = await log.start(first, 'first')
    nodes = [survivor, late]
    for (const node of nodes) {
      await until('the writer stops', async () => /keeps \d+ messages of two branches/.test(node.stderr()))
      assert.equal(await takesDrafts(node), false)
    }
    await endBoth()
    const stopped = await log.start(second, 'second')
    await until('it stays stopped', async () =>
      stopped.stderr().includes('choose a branch with daybook cluster adopt'),
    )
    assert.equal(await takesDrafts(stopped), false)
    await untilSeq(stopped, lost)
    await stopped.end('SIGTERM')

    const [whatEngineLoses, whatOursLoses, adopt, backup, restore, reclaim, publish] = documented({
      '/var/lib/daybook/log': first,
      '/var/lib/daybook/adopted': second,
      '"$ENGINE"': log.engine[1],
      '/etc/daybook/running.seed': log.engine[3],
      '/etc/daybook/signing-key': `${second}.key`,
      '/var/lib/daybook/backups/adopted.db': join(log.folder, 'adopted.db'),
      'lost.jsonl': join(log.folder, 'lost.jsonl'),
      token: `${second}.token`,
    })
    assert.ok(publish !== undefined)
    assert.match((await done(...(whatEngineLoses ?? []))).stdout, /^\{"ref":"of the first",.*\n$/)
    assert.match((await done(...(whatOursLoses ?? []))).stdout, /^\{"ref":"of the second",.*\n$/)
    await log.make(3)
    const adopted = await done(...(adopt ?? []))
    const [, origin = ''] =
      /goes on as (\S+) in stream 3 after seq \d+: announce it/.exec(adopted.stdout) ?? []
    forgetWriters(second)
    const winner = await log.start(second, 'second')
    await done(...(backup ?? []))
    await assert.rejects(log.start(first, 'first'), /adopted another branch of this log, which goes on as/)
    const restored = await done(...(restore ?? []))
    assert.match(restored.stdout, /daybook cluster reclaim --data \S+ lists its drafts/)
    const other = await log.start(first, 'first')
    nodes = [winner, other]
    writeFileSync(join(log.folder, 'lost.jsonl'), (await done(...(reclaim ?? []))).stdout)
    await until('the second takes drafts', () => takesDrafts(winner))
    await done(...publish.map((word) => (word === 'http://127.0.0.1:8081' ? winner.door : word)))
    for (const node of nodes) await untilSeq(node, lost + 1)
    const checkpoints = await Promise.all(
      nodes.map(async (node) => (await fetch(`${node.url}/api/v1/log/checkpoint`)).text()),
    )
    assert.equal(checkpoints[0], checkpoints[1])
    assert.equal(checkpoints[0]?.split('\n')[0], origin)
    assert.deepEqual(await readLines(winner.url, 0), await readLines(other.url, 0))
    await endBoth()
    assert.equal((await done(...(reclaim ?? []))).stdout, '')
    await done('cluster', 'check', '--data', first, ...log.engine)
    await done('cluster', 'check', '--stream', '1', ...log.engine)

    // An empty directory comes to the end of the fork while it runs, and starts again.
    const third = join(log.folder, 'third')
    copyFileSync(`${first}.key`, `${third}.key`)
    const joining = await log.start(third, 'third')
    await until('it ends at the fork', async () => joining.child.exitCode !== null)
    assert.match(joining.stderr(), /a fork of the log has ended, and it goes on under another origin/)
    const joined = await log.start(third, 'third')
    await untilSeq(joined, lost + 1)
    assert.equal(await (await fetch(`${joined.url}/api/v1/log/checkpoint`)).text(), checkpoints[0])
    await joined.end('SIGTERM')
  })

  test('is taken off its engine, and then goes on at no other writer', async () => {
    const other = await log.start(second, 'second')
    const move = (): ReturnType<typeof run> =>
      run(['cluster', 'move', '--back', '--data', first, ...log.engine])
    const back = await move()
    assert.equal(back.code, 0, back.stderr)
    const [, head = ''] = /off the engine at seq (\d+):/.exec(back.stdout) ?? []
    await until('the other writer says why it stops', async () =>
      other.stderr().includes('another node has taken the log off the engine'),
    )
    assert.equal(await takesDrafts(other), false)
    assert.equal((await fetch(`${other.url}/api/v1/events/${head}`)).status, 200)
    const rolled = await run(['cluster', 'roll', '--to', other.door, '--token-file', `${second}.token`])
    assert.match(rolled.stderr, /another node has taken the log off the engine/)
    await other.end('SIGTERM')
    await done('check', '--data', first)
    assert.match((await move()).stderr, /this log is on no engine/)
    const again = await run(['cluster', 'move', '--data', first, ...log.engine])
    assert.match(again.stderr, /the stream has more messages than this log|has another message at place/)
  })
})

/** Retires all other writers of a node, which would wait for them. */
function forgetWriters(data: string): void {
  rmSync(join(data, 'writers'), { force: true })
}

/** The commands of the section about a lost tail, with words of this test in place of the document's. */
function documented(words: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  const [, section = ''] = textOf('docs/clusters.md').split('\n## When the engine lost its tail\n')
  const [own = ''] = section.split('\n## ')
  const lines = own.replaceAll(/ \\\n +/g, ' ').split('\n')
  const commands = lines.filter((line) => /^ *(?:runuser -u daybook -- )?daybook /.test(line))
  assert.equal(commands.length, 7)
  for (const word of Object.keys(words)) assert.ok(own.includes(word), `the document has no ${word}`)
  return commands.map((line) => {
    const [, ...rest] = line
      .replace('runuser -u daybook -- ', '')
      .replace(/ > \S+$/, '')
      .trim()
      .split(' ')
    return rest.map((word) => words[word] ?? word)
  })
}
