import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { startAudits } from '../../src/command/service/background-audit.ts'
import { openReader } from '../../src/log/open-reader.ts'
import { openRefs } from '../../src/log/store/refs.ts'
import { openForWriting, storePath } from '../../src/log/store/store.ts'
import { until } from '../processes/other-program.ts'
import { fetchDescribed } from '../stage/described.ts'
import { startNode } from '../stage/node-process.ts'
import { skipUnless, skipWithout } from '../processes/test-needs.ts'
import { openDirectory } from '../story/store-run.ts'
import { openHeadCell } from '../../src/log/head-cell.ts'
import { openFolder } from '../story/damaged-log.ts'

const LOCKS = '/proc/locks'

/** Number of file locks that a process has on a store, as the system lists them. */
function locksOn(store: string, pid: number | undefined): number {
  const { ino } = statSync(store)
  return readFileSync(LOCKS, 'utf8')
    .split('\n')
    .filter((line) => line.includes(` ${pid} `) && line.includes(`:${ino} `)).length
}

suite('the locks on a store', { skip: skipUnless(existsSync(LOCKS), LOCKS) }, () => {
  test('stay with the writer while readers and audits of its process come and go', async () => {
    using directory = openDirectory()
    const store = storePath(directory.path)
    using writer = openForWriting(store)
    writer.exec("INSERT INTO meta VALUES ('chain-id', 'a commit')")
    assert.ok(statSync(`${store}-wal`).size > 0)
    const before = locksOn(store, process.pid)
    assert.ok(before > 0)

    openReader(directory.path, openHeadCell()).close()
    assert.equal(locksOn(store, process.pid), before, 'after a reader')

    openRefs(directory.path)[Symbol.dispose]()
    assert.equal(locksOn(store, process.pid), before, 'after a reader of refs')

    const { promise, resolve } = Promise.withResolvers<string>()
    const listener = { audited: ({ done }: { done: boolean }) => (done ? resolve('right') : undefined) }
    await using _audits = startAudits(directory.path, { pauseMs: 1, repeatMs: 60_000 }, [listener], resolve)
    assert.equal(await promise, 'right')
    assert.equal(locksOn(store, process.pid), before, 'after an audit')
  })

  test(
    'stay with a service, so that no other program removes its write-ahead log',
    { skip: skipWithout('python3') },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-locks-'))
      const data = join(folder, 'data')
      const store = storePath(data)
      const visit = `import sqlite3
db = sqlite3.connect(${JSON.stringify(store)})
print(db.execute('select count(*) from events').fetchone()[0])
db.close()`
      try {
        const node = await startNode(data)
        t.after(() => node.child.kill('SIGKILL'))
        const draft = { type: 'treasury', kind: 'deposit', kots: '1' }
        assert.equal((await node.publish([{ ...draft, ref: 'a' }])).status, 200)
        // An answer thread opens the store to answer.
        assert.equal((await fetchDescribed(`${node.url}/api/v1/contests`)).status, 200)
        assert.ok(locksOn(store, node.child.pid) > 0)
        const visited = spawnSync('python3', ['-c', visit], { encoding: 'utf8' })
        assert.equal(visited.stdout.trim(), '1', visited.stderr)
        assert.ok(existsSync(`${store}-wal`))
        assert.equal((await node.publish([{ ...draft, ref: 'b' }])).status, 200)
        await node.end('SIGKILL')
        const again = await startNode(data)
        t.after(() => again.child.kill('SIGKILL'))
        const [receipt] = (await again.publish([{ ...draft, ref: 'b' }])).drafts
        assert.deepEqual(receipt, { ref: 'b', status: 'duplicate', seq: 2 })
        await again.end('SIGTERM')
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )
})

test('a service whose store is replaced says so in its log, its metrics and /readyz, and serves readers', async (t) => {
  using folder = openFolder()
  const data = join(folder.path, 'data')
  const node = await startNode(data)
  t.after(() => node.child.kill('SIGKILL'))
  const draft = { ref: 'a', type: 'treasury', kind: 'deposit', kots: '1' }
  assert.equal((await node.publish([draft])).status, 200)
  const store = storePath(data)
  copyFileSync(store, join(folder.path, 'backup.db'))
  renameSync(join(folder.path, 'backup.db'), store)
  await until('the line is said', () =>
    Promise.resolve(node.stderr().includes(`${store} was replaced or removed`)),
  )
  const ready = await fetch(`${node.publishUrl}/readyz`)
  const { checks } = (await ready.json()) as { checks: object }
  const expected = { store: true, serving: true, accepting_publishes: false, store_in_place: false }
  assert.deepEqual([ready.status, checks], [200, expected])
  assert.match(await (await fetch(`${node.publishUrl}/metrics`)).text(), /^daybook_store_replaced 1$/m)
  assert.equal((await node.publish([draft])).code, 'store-unavailable')
  assert.equal((await fetchDescribed(`${node.url}/api/v1/events/1`)).status, 200)
})
