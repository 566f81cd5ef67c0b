import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { storePath } from '../../../src/log/store/store.ts'
import { canInject, injectFault } from '../../engine/fault-injection.ts'
import { run } from '../../stage/command-stage.ts'
import type { NodeProcess } from '../../stage/node-process.ts'
import { readLines, startNode } from '../../stage/node-process.ts'
import { skipUnless } from '../../stage/test-needs.ts'
import { openCampaign } from '../campaign.ts'

const CAMPAIGN = openCampaign('scarce-machine')
const { random } = CAMPAIGN
/** Size of a temporary folder that is full from the start. */
const FULL_FOLDER_BYTES = 65_536
/** Memory that a process may still take. A request of some thousand drafts needs more. */
const MEMORY_MORE_BYTES_MAX = 24_000_000
const LARGE_REQUEST = 5_000
const LARGE_REQUESTS_MAX = 12
const END_MS_MAX = 30_000
/** Scarcities from which on most ends must have a reason. */
const SILENT_JUDGED_MIN = 30

/** Count of the acknowledged drafts, number of the newest draft, and ends of the service without a reason. */
type Known = { acknowledged: number; next: number; silent: number }

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
  if (child.exitCode === null && child.signalCode === null)
    await once(child, 'close', { signal: AbortSignal.timeout(END_MS_MAX) })
}

/** Lets every write of the store fail as on a file system that became read-only. The service ends, with the reason. */
async function turnReadOnly(node: NodeProcess, known: Known, data: string): Promise<void> {
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
}

/**
 * Limits the memory of a process to little more than it has, and publishes much. The process may go on. When it ends, it
 * says why; memory that ends inside the runtime may kill it before it has said anything, and then the signal is known.
 */
async function takeMemory(node: NodeProcess, known: Known): Promise<void> {
  const pid = Number(node.child.pid)
  const used = Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  const limit = used + random.below(MEMORY_MORE_BYTES_MAX)
  execFileSync('prlimit', ['--pid', String(pid), `--data=${limit}`])
  for (let requests = 0; requests < LARGE_REQUESTS_MAX; requests++) {
    const status = await publish(node, known, LARGE_REQUEST)
    if (status !== 200) break
  }
  const publishes = await publish(node, known, 1)
  if (publishes === 200) return void (await node.end('SIGKILL'))
  await ended(node)
  const hasSaid = /memory|allocat|failed/i.test(node.stderr())
  assert.ok(hasSaid || node.child.signalCode !== null, `the last words name the reason: ${node.stderr()}`)
  if (!hasSaid) known.silent += 1
}

const WAYS = { readOnly: turnReadOnly, memory: takeMemory } as const
type Way = keyof typeof WAYS

/** Opens a temporary folder that is full; null when this machine does not allow that. */
function openFullFolder(parent: string): string | null {
  const folder = join(parent, 'full')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${FULL_FOLDER_BYTES}`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    return null
  }
  writeFileSync(join(folder, 'all'), new Uint8Array(FULL_FOLDER_BYTES))
  return folder
}

suite(
  `a machine without room, ${CAMPAIGN.size} times`,
  { skip: skipUnless(canInject(), 'a strace that may follow a process') },
  () => {
    const parent = mkdtempSync(join(tmpdir(), 'daybook-scarce-'))
    const full = openFullFolder(parent)
    test.after(() => {
      if (full !== null) execFileSync('umount', [full])
      rmSync(parent, { recursive: true, force: true })
    })
    const data = join(parent, 'data')
    const wrapper = full === null ? [] : ['env', `TMPDIR=${full}`, `SQLITE_TMPDIR=${full}`]

    test(
      'loses nothing that was acknowledged: its store read-only, its memory limited, its temporary folder full',
      { timeout: 60_000 + CAMPAIGN.size * 30_000 },
      async (t) => {
        const known: Known = { acknowledged: 0, next: 0, silent: 0 }
        const seen = { readOnly: 0, memory: 0, ended: 0 }
        for (let unit = 0; unit < CAMPAIGN.size; unit++) {
          const way: Way = unit % 2 === 0 ? 'readOnly' : 'memory'
          const node = await startNode(data, [], wrapper)
          try {
            const before = (await readLines(node.url, 0)).length
            assert.ok(before >= known.acknowledged, `${before} events of ${known.acknowledged}`)
            // What was in progress may be there too, and is known from now on.
            known.acknowledged = before
            assert.equal(await publish(node, known, random.between(1, 50)), 200)
            await WAYS[way](node, known, data)
          } finally {
            seen.ended += node.child.signalCode === 'SIGKILL' ? 0 : 1
            if (node.child.exitCode === null && node.child.signalCode === null) await node.end('SIGKILL')
          }
          seen[way] += 1
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
        const floors = {
          readOnly: Math.floor(size / 2),
          memory: Math.floor(size / 2),
          ended: size / 2,
          events: size,
        }
        CAMPAIGN.finish(t, { scarcities: size, events, silent, ...seen }, floors)
      },
    )
  },
)
