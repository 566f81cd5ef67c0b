import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { PROBE_FILE } from '../../src/log/store/disk-probe.ts'
import { storePath } from '../../src/log/store/store.ts'
import { assertConsistent } from '../stage/door-stage.ts'
import type { Fault } from '../engine/fault-injection.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { canInject, failingFromStart, injectFault } from '../engine/fault-injection.ts'
import type { NodeProcess } from '../stage/node-process.ts'
import { readLines, startNode } from '../stage/node-process.ts'

const BEFORE = 5

function draft(number: number): object {
  return { ref: `ref-${number}`, type: 'trade', kind: 'buy', kots: `${number}` }
}

/** A fault of system calls on files of the data directory. */
type DiskFault = Readonly<{ name: string; fault(data: string): Fault }>

const wal = (data: string): string => `${storePath(data)}-wal`

const BROKEN: readonly DiskFault[] = [
  {
    name: 'a write of the store that fails',
    fault: (data) => ({ calls: 'pwrite64', error: 'EIO', paths: [wal(data)] }),
  },
  {
    name: 'a write that fails while other writes fail too',
    fault: (data) => ({ calls: 'pwrite64', error: 'EIO', paths: [wal(data), join(data, PROBE_FILE)] }),
  },
  {
    name: 'an fsync of the store that fails',
    fault: (data) => ({ calls: 'fsync', error: 'EIO', paths: [wal(data)] }),
  },
  {
    name: 'an fsync that fails with the error of a full disk',
    fault: (data) => ({ calls: 'fsync', error: 'ENOSPC', paths: [wal(data)] }),
  },
]

/** Other errors of a full disk. */
const FULL: readonly DiskFault[] = (['EDQUOT', 'ENOSPC'] as const).map((error) => ({
  name: error,
  fault: (data) => ({ calls: 'pwrite64', error, paths: [wal(data), join(data, PROBE_FILE)] }),
}))

suite('a disk that fails', { skip: skipUnless(canInject(), 'a strace that may follow a process') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-failing-'))
  const nodes: NodeProcess[] = []
  test.after(async () => {
    for (const { child, end } of nodes) if (child.exitCode === null) await end('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  /** Starts a service with some events in its own directory. */
  async function started(name: string): Promise<Readonly<{ data: string; node: NodeProcess }>> {
    const data = join(folder, name.replaceAll(/\W+/g, '-'))
    const node = await startNode(data)
    nodes.push(node)
    for (let number = 1; number <= BEFORE; number += 1) await node.publish([draft(number)])
    return { data, node }
  }

  for (const { name, fault } of BROKEN) {
    test(`ends the service with code 1: ${name}`, async () => {
      const { data, node } = await started(name)
      const ended = once(node.child, 'close')
      {
        await using _fault = await injectFault(Number(node.child.pid), fault(data))
        const answer = await node.publish([draft(BEFORE + 1)])
        assert.equal(answer.status, 503, 'no disk is said to be full')
        await ended
      }
      assert.equal(node.child.exitCode, 1, node.stderr())
      assert.match(node.stderr(), /the disk failed/)
      // Acknowledged events are stored, and the next start continues.
      assert.ok(assertConsistent(storePath(data)) >= BEFORE)
      const again = await startNode(data)
      nodes.push(again)
      assert.equal((await again.publish([draft(BEFORE + 1)])).status, 200)
      assert.equal((await readLines(again.url, 0)).length, BEFORE + 1)
      await again.end('SIGTERM')
    })
  }

  for (const { name, fault } of FULL) {
    test(`is reported as full (${name}), and publishing resumes by itself`, async () => {
      const { data, node } = await started(name)
      {
        await using _fault = await injectFault(Number(node.child.pid), fault(data))
        for (let times = 0; times < 3; times += 1) {
          const answer = await node.publish([draft(BEFORE + 1)])
          assert.deepEqual([answer.status, answer.code], [507, 'store-full'])
        }
      }
      assert.ok(!readdirSync(data).includes(PROBE_FILE), 'the probe is removed')
      assert.equal((await node.publish([draft(BEFORE + 1)])).status, 200)
      assert.equal((await node.end('SIGTERM')).code, 0, node.stderr())
      assert.equal(assertConsistent(storePath(data)), BEFORE + 1)
    })
  }

  test('prevents a start when it cannot make the names in the data directory durable', async () => {
    const { data, node } = await started('names')
    await node.end('SIGTERM')
    const fault: Fault = { calls: 'fsync', error: 'EIO', paths: [data] }
    await assert.rejects(startNode(data, [], failingFromStart(fault)), /cannot be made durable/)
    assert.equal(assertConsistent(storePath(data)), BEFORE)
  })
})
