import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { PROBE_FILE } from '../../src/log/store/disk-probe.ts'
import { defaultKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { STORE_FILE, storePath } from '../../src/log/store/store.ts'
import { assertConsistent } from '../stage/publish-stage.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { openClient, until } from '../stage/stream-client.ts'
import { type NodeProcess, readLines, startNode } from '../stage/node-process.ts'
import { type ShimCall, type ShimError, withShim } from '../torture/store/io-shim.ts'

const BEFORE = 5

function draft(number: number): object {
  return { ref: `ref-${number}`, type: 'trade', kind: 'buy', kots: `${number}` }
}

/** Calls that fail on files of the data directory, by the endings of their names. */
type DiskFault = Readonly<{ name: string; call: ShimCall; error: ShimError; files: readonly string[] }>

const WAL = `${STORE_FILE}-wal`

const BROKEN: readonly DiskFault[] = [
  { name: 'a write of the store that fails', call: 'pwrite', error: 'EIO', files: [WAL] },
  { name: 'a file system that turns read-only', call: 'pwrite', error: 'EROFS', files: [WAL, PROBE_FILE] },
  { name: 'an fsync of the store that fails', call: 'fsync', error: 'EIO', files: [WAL] },
  {
    name: 'an fsync that fails with the error of a full disk',
    call: 'fsync',
    error: 'ENOSPC',
    files: [WAL],
  },
]

/** More calls than a test makes. */
const ALL = 1_000_000

/** Requests refused in a row before there is room again. */
const REFUSED = 12
const WAIT_MS_MAX = 60_000

/** Asserts that a service is ready for readers, and for publishers or not. */
async function assertReady({ publishUrl }: NodeProcess, accepting_publishes: boolean): Promise<void> {
  const { ready, checks } = (await (await fetch(`${publishUrl}/readyz`)).json()) as {
    ready: boolean
    checks: object
  }
  const expected = { store: true, serving: true, accepting_publishes, store_in_place: true }
  assert.deepEqual({ ready, checks }, { ready: true, checks: expected })
  assert.equal((await fetch(`${publishUrl}/readyz?for=publish`)).ok, accepting_publishes)
}

/** A service, and the fault of its disk, which lasts until the result is disposed. */
type Started = Readonly<{ data: string; node: NodeProcess; inject(): Disposable }>

suite('a disk that fails', { skip: skipWithout('cc') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-failing-'))
  const nodes: NodeProcess[] = []
  test.after(async () => {
    for (const { child, end } of nodes) if (child.exitCode === null) await end('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  /** Starts a service with some events in its own directory. */
  async function started({ name, call, error, files }: DiskFault): Promise<Started> {
    const data = join(folder, name.replaceAll(/\W+/g, '-'))
    const failing = `${data}.failing`
    const fail = { at: 1, error, times: ALL }
    const wrapper = withShim({ root: data, calls: [call], files, onlyWhile: failing, fail })
    const node = await startNode(data, [], wrapper)
    nodes.push(node)
    for (let number = 1; number <= BEFORE; number += 1) await node.publish([draft(number)])
    const inject = (): Disposable => {
      writeFileSync(failing, '')
      return { [Symbol.dispose]: () => rmSync(failing) }
    }
    return { data, node, inject }
  }

  for (const fault of BROKEN) {
    test(`ends the service with code 1: ${fault.name}`, async () => {
      const { data, node, inject } = await started(fault)
      const ended = once(node.child, 'close')
      {
        using _fault = inject()
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

  for (const error of ['EDQUOT', 'ENOSPC'] as const)
    test(`is full (${error}): publishing is refused with 507, reading goes on, and publishing resumes by itself`, async () => {
      const { data, node, inject } = await started({
        name: error,
        call: 'pwrite',
        error,
        files: [WAL, PROBE_FILE],
      })
      using stream = await openClient(Number(new URL(node.url).port), { path: '?after=0' })
      {
        using _fault = inject()
        for (let times = 0; times < REFUSED; times += 1) {
          const { status, code, headers } = await node.publish([draft(BEFORE + 1), draft(BEFORE + 2)])
          assert.deepEqual([status, code], [507, 'store-full'])
          assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
          assert.equal(
            (await readLines(node.url, 0)).length,
            BEFORE,
            'nothing of a refused request is visible',
          )
        }
        await assertReady(node, false)
        await stream.until(() => stream.seqs().length === BEFORE, WAIT_MS_MAX)
        assert.ok(!stream.isClosed(), 'the stream goes on')
      }
      // No publish request is sent here, because a load balancer sends none to a node that is not ready.
      await until(async () => (await fetch(`${node.publishUrl}/readyz?for=publish`)).ok, WAIT_MS_MAX)
      await assertReady(node, true)
      assert.ok(!readdirSync(data).includes(PROBE_FILE), 'the probe is removed')
      assert.equal((await node.publish([draft(BEFORE + 1), draft(BEFORE + 2)])).status, 200)
      await stream.until(() => stream.seqs().length === BEFORE + 2, WAIT_MS_MAX)
      assert.deepEqual(await readLines(node.url, 0), stream.events())
      stream.socket.destroy()
      assert.equal((await node.end('SIGTERM')).code, 0, node.stderr())
      assert.equal(assertConsistent(storePath(data)), BEFORE + 2)
    })

  const whole = join(folder, 'whole')
  test.before(async () => {
    const node = await startNode(whole)
    for (let number = 1; number <= BEFORE; number += 1) await node.publish([draft(number)])
    await node.end('SIGTERM')
  })

  /** Copies the whole log to a directory. */
  function copyTo(data: string): void {
    cpSync(whole, data, { recursive: true })
    cpSync(defaultKeyFile(whole), defaultKeyFile(data))
  }

  /** Words of a start on a log with some events when these calls fail. */
  async function saidByStart(
    name: string,
    [call, file, at, error = 'ENOSPC']: readonly [ShimCall, string, number, ShimError?],
  ): Promise<string> {
    const data = join(folder, name)
    copyTo(data)
    const fail = { at, error, times: ALL }
    const wrapper = withShim({ root: data, calls: [call], files: [file], fail })
    const said = await startNode(data, [], wrapper).then(
      () => assert.fail('the service started'),
      (reason: Error) => reason.message,
    )
    assert.equal(assertConsistent(storePath(data)), BEFORE)
    return said
  }

  // The main thread syncs the names first, and the writer's thread after it.
  for (const at of [1, 2])
    test(`prevents a start in one line when sync ${at} of the names in the data directory fails`, async () => {
      const said = await saidByStart(`names-${at}`, ['fsync', '.', at])
      assert.match(said, /^daybook: the names of the files in \S+ cannot be made durable: ENOSPC/m)
      assert.doesNotMatch(said, /crashed|^ +at /m)
    })

  test('gives a stop the code 1 and a reason when the newest mark cannot be synced', async () => {
    const data = join(folder, 'last-sync')
    // A first start syncs the mark under another name. The next sync is that of the stop.
    const fail = { at: 1, error: 'EIO', times: ALL } as const
    const node = await startNode(
      data,
      [],
      withShim({ root: data, calls: ['fsync'], files: [HIGH_WATER_FILE], fail }),
    )
    for (let number = 1; number <= BEFORE; number += 1) await node.publish([draft(number)])
    assert.equal((await node.end('SIGTERM')).code, 1)
    assert.match(node.stderr(), /"fact":"broken","reason":"[^"]*EIO: i\/o error, fsync/)
    assert.equal(assertConsistent(storePath(data)), BEFORE)
  })

  test('prevents a start in one line when a quota is used up, for which Node has no words', async () => {
    const said = await saidByStart('quota', ['pwrite', HIGH_WATER_FILE, 1, 'EDQUOT'])
    assert.match(said, /^daybook: EDQUOT: disk quota exceeded, write$/m)
  })

  test('prevents a start in one line when it has no room for the file -shm of the store', async () => {
    const said = await saidByStart('shm', ['pwrite', `${STORE_FILE}-shm`, 1])
    assert.match(
      said,
      /^daybook: the store cannot be used: .*: its file -shm cannot grow, as on a full disk$/m,
    )
  })
})
