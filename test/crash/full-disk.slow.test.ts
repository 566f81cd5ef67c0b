import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { storePath } from '../../src/log/store/store.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { assertConsistent } from '../stage/publish-stage.ts'
import { type NodeProcess, readLines, startNode } from '../stage/node-process.ts'
import { openClient } from '../stage/stream-client.ts'
import { isRunning } from '../processes/other-program.ts'

/** A way to give a process little disk space, and then more. */
type Scarcity = Readonly<{
  name: string
  /** Prepares the folder. Returns false when this machine does not allow that. */
  works(folder: string): boolean
  /** Command prefix of the service. */
  wrapper: readonly string[]
  makeRoom(node: NodeProcess, folder: string): void
  end(folder: string): void
}>

const LITTLE_BYTES = 3_000_000
/** Requests refused in a row before there is room again. */
const REFUSED = 12
const FILLING_DRAFTS = 60
/** Milliseconds in which the node must notice that there is room: two probes, on a slow machine. */
const ROOM_MS_MAX = 5_000
const LOOK_MS = 50

const DISK: Scarcity = {
  name: 'a full disk',
  works: (folder) => succeeds('mount', '-t', 'tmpfs', '-o', `size=${LITTLE_BYTES}`, 'tmpfs', folder),
  wrapper: [],
  makeRoom: (_, folder) => execFileSync('mount', ['-o', `remount,size=${LITTLE_BYTES * 4}`, folder]),
  end: (folder) => execFileSync('umount', [folder]),
}

const FILE_SIZE: Scarcity = {
  name: 'a file that cannot grow',
  works: () => succeeds('prlimit', `--fsize=${LITTLE_BYTES}:unlimited`, 'true'),
  wrapper: ['prlimit', `--fsize=${LITTLE_BYTES}:unlimited`],
  makeRoom: ({ child }) =>
    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited']),
  end: () => undefined,
}

function succeeds(command: string, ...words: readonly string[]): boolean {
  try {
    execFileSync(command, words, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

type Draft = Readonly<{ ref: string; type: string; kind: string; kots: string; tx: string }>

function draftsOf(first: number, count: number): readonly Draft[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index
    return {
      ref: `ref-${number}`,
      type: 'trade',
      kind: 'buy',
      kots: `${number}`,
      tx: `tx:${number}:`.padEnd(128, '-'),
    }
  })
}

/** Publishes until the store is full: first many drafts a request, then one. */
async function fill(node: NodeProcess): Promise<Readonly<{ events: number; refused: readonly Draft[][] }>> {
  let events = 0
  const refused: Draft[][] = []
  for (const size of [FILLING_DRAFTS, 1]) {
    for (;;) {
      const drafts = [...draftsOf(events + 1 + refused.length * FILLING_DRAFTS, size)]
      const answer = await node.publish(drafts)
      if (answer.status === 507) {
        assert.equal(answer.code, 'store-full')
        assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
        refused.push(drafts)
        break
      }
      assert.equal(answer.status, 200, answer.code)
      events += size
      assert.ok(events < 100_000, 'the disk is full in the end')
    }
  }
  return { events, refused }
}

/** Status codes of readiness for readers and for publishers. */
async function readyOf({
  publishUrl,
}: NodeProcess): Promise<Readonly<{ readers: number; publishers: number }>> {
  const [readers, publishers] = await Promise.all([
    fetch(`${publishUrl}/readyz`),
    fetch(`${publishUrl}/readyz?for=publish`),
  ])
  const { ready, checks } = (await readers.json()) as { ready: boolean; checks: object }
  await publishers.body?.cancel()
  const accepting_publishes = publishers.status === 200
  assert.deepEqual(
    { ready, checks },
    { ready: true, checks: { store: true, serving: true, accepting_publishes, store_in_place: true } },
  )
  return { readers: readers.status, publishers: publishers.status }
}

async function run(scarcity: Scarcity, folder: string): Promise<void> {
  const data = join(folder, 'data')
  const node = await startNode(data, [], scarcity.wrapper)
  try {
    using stream = await openClient(Number(new URL(node.url).port), { path: '?after=0' })
    const { events, refused } = await fill(node)
    assert.ok(events >= FILLING_DRAFTS, `${events} events fitted`)

    assert.deepEqual(await readyOf(node), { readers: 200, publishers: 503 })

    // The disk stays full and each request reports it. Readers are not affected.
    for (let times = 0; times < REFUSED; times += 1) {
      const answer = await node.publish(refused[0] ?? [])
      assert.equal(answer.status, 507)
      const lines = await readLines(node.url, 0)
      assert.equal(lines.length, events, 'nothing of a refused request is visible')
    }
    const [first] = draftsOf(1, 1)
    const known = await node.publish([first ?? {}])
    assert.ok(known.status === 507 || known.drafts[0]?.status === 'duplicate')
    await stream.until(() => stream.seqs().length === events, 60_000)
    assert.ok(!stream.isClosed(), 'the stream continues')

    assert.deepEqual(await readyOf(node), { readers: 200, publishers: 503 })
    scarcity.makeRoom(node, folder)
    // No publish request is sent here, because a load balancer sends none to a node that is not ready.
    const limit = performance.now() + ROOM_MS_MAX
    while (!(await fetch(`${node.publishUrl}/readyz?for=publish`)).ok) {
      assert.ok(performance.now() < limit, 'the node notices that there is room')
      await sleep(LOOK_MS)
    }
    assert.deepEqual(await readyOf(node), { readers: 200, publishers: 200 })
    for (const drafts of refused) {
      const answer = await node.publish(drafts)
      assert.equal(answer.status, 200, 'publishing resumes by itself')
      assert.ok(answer.drafts.every(({ status }) => status === 'published'))
    }
    const all = events + refused.flat().length
    await stream.until(() => stream.seqs().length === all, 60_000)
    assert.deepEqual(
      stream.seqs(),
      Array.from({ length: all }, (_, index) => index + 1),
    )
    assert.deepEqual(await readLines(node.url, 0), stream.events())
    stream.socket.destroy()
    assert.equal((await node.end('SIGTERM')).code, 0, node.stderr())
    assert.equal(assertConsistent(storePath(data)), all)
  } finally {
    if (isRunning(node.child)) await node.end('SIGKILL')
  }
}

/** Opens a folder with little space; undefined when this machine does not allow that. */
function openScarce(scarcity: Scarcity): (Disposable & Readonly<{ folder: string }>) | undefined {
  const parent = mkdtempSync(join(tmpdir(), 'daybook-scarce-'))
  const folder = join(parent, 'disk')
  mkdirSync(folder)
  const remove = (): void => rmSync(parent, { recursive: true, force: true })
  if (!scarcity.works(folder)) {
    remove()
    return undefined
  }
  return {
    folder,
    [Symbol.dispose]() {
      scarcity.end(folder)
      remove()
    },
  }
}

function isAllowed(scarcity: Scarcity): boolean {
  using scarce = openScarce(scarcity)
  return scarce !== undefined
}

/** Ways that this machine allows. Mounting needs rights; the limit of file sizes needs none. */
const WAYS = [DISK, FILE_SIZE].filter(isAllowed)
const NEEDED = 'the right to mount, or `prlimit`'

suite(
  'a full store refuses publishing with 507, serves readers, and accepts drafts again when there is room',
  { skip: skipUnless(WAYS.length > 0, NEEDED) },
  () => {
    test('is tested in at least one way', () => assert.notEqual(WAYS.length, 0))
    for (const scarcity of WAYS) {
      test(`on ${scarcity.name}`, { timeout: 300_000 }, async () => {
        using scarce = openScarce(scarcity)
        assert.ok(scarce !== undefined)
        await run(scarcity, scarce.folder)
      })
    }
  },
)
