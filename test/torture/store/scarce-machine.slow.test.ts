import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { storePath } from '../../../src/log/store/store.ts'
import { canInject, injectFault } from '../../processes/fault-injection.ts'
import { run } from '../../stage/command-stage.ts'
import { type NodeProcess, readLines, startNode } from '../../stage/node-process.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { openCampaign } from '../campaign.ts'
import { isRunning } from '../../processes/other-program.ts'

const CAMPAIGN = openCampaign('scarce-machine')
const { random } = CAMPAIGN
/** Bit of the right to mount in `CapEff` of proc_pid_status(5): CAP_SYS_ADMIN. */
const MAY_MOUNT = 1n << 21n
/** Size of a temporary folder that is full from the start. */
const FULL_FOLDER_BYTES = 65_536
/** Memory that a process may still take. A request of some thousand drafts needs more. */
const MEMORY_MORE_BYTES_MAX = 24_000_000
const LARGE_REQUEST = 5_000
const LARGE_REQUESTS_MAX = 12
const END_MS_MAX = 30_000
/** Scarcities from which on most ends must have a reason. */
const SILENT_JUDGED_MIN = 30

/** Limits of a process in turn, each half as large, until one ends it. */
const LIMITS_MAX = 4

/** Count of the acknowledged drafts, number of the newest draft, and ends of the service without a reason. */
type Known = { acknowledged: number; next: number; silent: number }
/** End of a service: by itself, or still alive after the scarcity. */
type Outcome = 'ended' | 'survived'

const draftsOf = (known: Known, count: number): readonly object[] =>
  Array.from({ length: count }, () => {
    known.next += 1
    return {
      ref: `ref-${known.next}`,
      type: 'trade',
      kind: 'buy',
      kots: '1',
      tx: `tx:${known.next}:`.padEnd(128, '-'),
    }
  })

/** Publishes drafts. Returns the status, or 0 when the service ended before it answered. */
async function publish(node: NodeProcess, known: Known, count: number): Promise<number> {
  try {
    const answer = await node.publish(draftsOf(known, count))
    if (answer.status === 200) known.acknowledged += count
    return answer.status
  } catch {
    return 0
  }
}

/** Waits for the end of a process that must end. */
async function ended({ child }: NodeProcess): Promise<void> {
  if (isRunning(child)) await once(child, 'close', { signal: AbortSignal.timeout(END_MS_MAX) })
}

/** Lets every write of the store fail as on a file system that became read-only. The service ends, with the reason. */
async function turnReadOnly(node: NodeProcess, known: Known, data: string): Promise<Outcome> {
  const closed = ended(node)
  const calls = 'pwrite64,ftruncate,fsync,fdatasync'
  const paths = [storePath(data), `${storePath(data)}-wal`]
  {
    await using _fault = await injectFault(Number(node.child.pid), { calls, error: 'EROFS', paths })
    assert.ok([0, 503].includes(await publish(node, known, 1)), 'no disk is said to be full')
    await closed
  }
  assert.equal(node.child.exitCode, 1)
  assert.match(node.stderr(), /the disk failed/)
  return 'ended'
}

/** Words of a report that tell no failure. */
const HARMLESS = /^\{"level":"(?:info|warn)"/

/**
 * Limits the memory of a process to little more than it has, and publishes much. The process may go on. When it ends, it
 * says why; memory that ends inside the runtime may kill it before it has said anything, and then the signal is known.
 */
async function takeMemory(node: NodeProcess, known: Known): Promise<Outcome> {
  const pid = Number(node.child.pid)
  for (let limits = 0; limits < LIMITS_MAX; limits += 1) {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const used = Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
    const limit = used + random.below(MEMORY_MORE_BYTES_MAX >> limits)
    execFileSync('prlimit', ['--pid', String(pid), `--data=${limit}`])
    for (let requests = 0; requests < LARGE_REQUESTS_MAX; requests++)
      if ((await publish(node, known, LARGE_REQUEST)) !== 200) break
    if ((await publish(node, known, 1)) !== 200) {
      await ended(node)
      assertReasonSaid(node, known)
      return 'ended'
    }
  }
  return 'survived'
}

/** Asserts that the last words of a process name the reason of its end, or that a signal ended it, which is counted. */
function assertReasonSaid({ child, stderr }: NodeProcess, known: Known): void {
  const words = stderr()
    .split('\n')
    .filter((line) => !HARMLESS.test(line))
  const hasSaid = /memory|alloc|failed/i.test(words.join('\n'))
  assert.ok(hasSaid || child.signalCode !== null, `the last words name the reason: ${stderr()}`)
  if (!hasSaid) known.silent += 1
}

const WAYS = { readOnly: turnReadOnly, memory: takeMemory } as const
type Way = keyof typeof WAYS

/** Whether this process has the right to mount a file system. */
function mayMount(): boolean {
  const effective = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return (BigInt(`0x${effective ?? '0'}`) & MAY_MOUNT) !== 0n
}

/** Opens a temporary folder that is full. */
function openFullFolder(parent: string): string {
  const folder = join(parent, 'full')
  mkdirSync(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${FULL_FOLDER_BYTES}`, 'tmpfs', folder])
  writeFileSync(join(folder, 'all'), new Uint8Array(FULL_FOLDER_BYTES))
  return folder
}

/** Asserts that a folder has no room for one more byte. */
function assertFull(folder: string): void {
  const more = join(folder, 'more')
  assert.throws(() => writeFileSync(more, 'x'), { code: 'ENOSPC' })
  rmSync(more, { force: true })
}

suite(
  `a machine without room, ${CAMPAIGN.size} times`,
  {
    skip: skipUnless(
      canInject() && mayMount(),
      'a strace that may follow a process, or the right to mount a file system',
    ),
  },
  () => {
    const parent = mkdtempSync(join(tmpdir(), 'daybook-scarce-'))
    let full = ''
    test.before(() => {
      full = openFullFolder(parent)
      assertFull(full)
    })
    test.after(() => {
      if (full !== '') execFileSync('umount', [full])
      rmSync(parent, { recursive: true, force: true })
    })
    const data = join(parent, 'data')

    test(
      'loses nothing that was acknowledged: its store read-only, its memory limited, its temporary folder full',
      { timeout: 60_000 + CAMPAIGN.size * 30_000 },
      async (t) => {
        const known: Known = { acknowledged: 0, next: 0, silent: 0 }
        const seen = { readOnly: 0, memory: 0, survived: 0, fullFolder: 0 }
        const wrapper = ['env', `TMPDIR=${full}`, `SQLITE_TMPDIR=${full}`]
        for (let unit = 0; unit < CAMPAIGN.size; unit++) {
          const way: Way = unit % 2 === 0 ? 'readOnly' : 'memory'
          const node = await startNode(data, [], wrapper)
          try {
            const before = (await readLines(node.url, 0)).length
            assert.ok(before >= known.acknowledged, `${before} events of ${known.acknowledged}`)
            // What was in progress may be there too, and is known from now on.
            known.acknowledged = before
            assert.equal(await publish(node, known, random.between(1, 50)), 200)
            seen[(await WAYS[way](node, known, data)) === 'ended' ? way : 'survived'] += 1
            assertFull(full)
            seen.fullFolder += 1
          } finally {
            if (isRunning(node.child)) await node.end('SIGKILL')
          }
          if (unit % 20 === 19) t.diagnostic(`${unit + 1} times`)
        }
        const checked = await run(['check', '--data', data])
        assert.equal(checked.code, 0, checked.stderr)
        const events = Number(/^(\d+) events/.exec(checked.stdout)?.[1])
        assert.ok(events >= known.acknowledged, `${events} events of ${known.acknowledged}`)
        const { size } = CAMPAIGN
        const { silent } = known
        if (size >= SILENT_JUDGED_MIN)
          assert.ok(silent <= seen.memory / 10, `${silent} ends without a reason`)
        const half = Math.floor(size / 2)
        const floors = {
          readOnly: half,
          memory: Math.ceil(half / 2),
          fullFolder: size,
          events: size,
        }
        CAMPAIGN.finish(t, { scarcities: size, events, silent, ...seen }, floors)
      },
    )
  },
)
