import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { startAudits } from '../../src/command/service/background-audit.ts'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { storePath } from '../../src/log/store/store.ts'
import { change, flip, makeLog, openFolder, publishUpTo } from '../story/damaged-log.ts'
import { ENDS, EVENTS } from '../story/damages.ts'
import { run } from '../stage/command-stage.ts'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { daybook } from '../stage/service.ts'

const PUBLISHERS = 4
const ANSWERS_BEFORE = 20
/** Far longer than a request or a slice of an audit. */
const DEADLINE_MS = 60_000

function serving(data: string, ...options: readonly string[]): ReturnType<typeof daybook> {
  return daybook('serve', '--data', data, '--port', '0', '--publish-port', '0', ...options)
}

/** Publishes from several publishers until the service ends. Returns how many requests were acknowledged. */
async function publishOn(
  node: NodeProcess,
  name: string,
  answered: (answers: number) => void,
): Promise<number> {
  let sent = 0
  let answers = 0
  const publisher = async (): Promise<void> => {
    for (;;) {
      sent += 1
      const draft = { ref: `${name}-${sent}`, type: 'trade', kind: 'buy', kots: `${sent}` }
      const answer = await node.publish([draft]).catch(() => undefined)
      if (answer?.status !== 200) return
      answered((answers += 1))
    }
  }
  await Promise.all(Array.from({ length: PUBLISHERS }, publisher))
  return answers
}

suite('a service whose log was changed while it was stopped', () => {
  test('refuses to start when the start finds it: code 1, one line, nothing changed', async () => {
    using folder = openFolder()
    makeLog(folder.data, ENDS)
    change(folder.data, (db) => flip(db, 'events', 'line', 'seq = 600'))
    const before = [storePath(folder.data), join(folder.data, HIGH_WATER_FILE)].map((path) =>
      readFileSync(path),
    )
    const { code, stderr } = await serving(folder.data)
    assert.equal(code, 1)
    assert.match(stderr, /\ndaybook: seq 600: the event is not what was published[^\n]*\n$/)
    const after = [storePath(folder.data), join(folder.data, HIGH_WATER_FILE)].map((path) =>
      readFileSync(path),
    )
    assert.deepEqual(after, before)
  })

  test('refuses to start with --verify-first, wherever the change is', async () => {
    using folder = openFolder()
    makeLog(folder.data, ENDS)
    change(folder.data, (db) => flip(db, 'events', 'line', 'seq = 99'))
    const { code, stderr } = await serving(folder.data, '--verify-first')
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: seq 99: the event is not what was published/m)
    assert.doesNotMatch(stderr, /listening/)
  })

  test('ends at once with code 1 when its audit finds it, with open streams and busy publishers', async () => {
    using folder = openFolder()
    makeLog(folder.data, ENDS)
    change(folder.data, (db) => flip(db, 'events', 'line', 'seq = 99'))
    // At an ordinary stop, streams would have a minute to end.
    const node = await startNode(folder.data, ['--drain', '60', '--workers', '2'])
    const stream = fetch(`${node.url}/api/v1/stream`)
      .then((response) => response.text())
      .catch(() => 'cut')
    const publishing = publishOn(node, 'late', () => undefined)
    await once(node.child, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) })
    assert.equal(node.child.exitCode, 1)
    assert.match(node.stderr(), /seq 99: the event is not what was published/)
    await Promise.all([stream, publishing])
    // A restart must not sign and publish during its audit.
    const again = await serving(folder.data)
    assert.equal(again.code, 1)
    assert.doesNotMatch(again.stderr, /listening/)
    assert.match(again.stderr, /^daybook: seq 99: /m)
    change(folder.data, (db) => flip(db, 'events', 'line', 'seq = 99'))
    for (let starts = 0; starts < 2; starts += 1) {
      const mended = await startNode(folder.data)
      assert.equal((await mended.end('SIGTERM')).code, 0)
    }
  })
})

suite('the audit of a log that is served', () => {
  /** Audits a log repeatedly and changes it after the first audit. Returns the finding. */
  async function brokenBy(data: string, damage: () => void): Promise<string> {
    const broken = Promise.withResolvers<string>()
    let audits = 0
    const audited = ({ done }: Readonly<{ done: boolean }>): void => {
      audits += done ? 1 : 0
      if (done && audits === 1) damage()
    }
    await using _audits = startAudits(data, { pauseMs: 1, repeatMs: 1 }, [{ audited }], broken.resolve)
    const reason = await broken.promise
    assert.ok(audits >= 1, 'it was right before the change')
    return reason
  }

  const changes: readonly (readonly [name: string, damage: (data: string) => void, reason: RegExp])[] = [
    [
      'a change of an old event',
      (data) => change(data, (db) => flip(db, 'events', 'line', 'seq = 99')),
      /^seq 99: the event is not what/,
    ],
    [
      'a cut between commits',
      (data) => change(data, (db) => db.exec('DELETE FROM events WHERE seq > 693')),
      /^seq 694: the log ends at seq 693 but was published up to seq 700/,
    ],
    [
      'an insertion at the end',
      (data) =>
        change(data, (db) =>
          db.exec(`INSERT INTO events SELECT 701, at, code, contest, nonzero, line, leaf, NULL FROM events
            WHERE seq = 699`),
        ),
      /^seq 701: /,
    ],
  ]
  for (const [name, damage, reason] of changes) {
    test(`names the first wrong seq after ${name} during the service`, async () => {
      using folder = openFolder()
      makeLog(folder.data, ENDS)
      assert.match(await brokenBy(folder.data, () => damage(folder.data)), reason)
    })
  }

  test('finds no fault in a log that grows', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [10])
    const reasons: string[] = []
    const audited = Promise.withResolvers<void>()
    let events = 10
    const grow = ({ done }: Readonly<{ done: boolean }>): void => {
      if (!done) return
      if (events >= 600) return audited.resolve()
      publishUpTo(data, [(events += 53)])
    }
    await using _audits = startAudits(data, { pauseMs: 0, repeatMs: 0 }, [{ audited: grow }], (reason) => {
      reasons.push(reason)
      audited.resolve()
    })
    await audited.promise
    assert.deepEqual(reasons, [])
  })
})

suite('a backup made while events are published', () => {
  test('passes the check, and has the events that were acknowledged before it', async () => {
    using folder = openFolder()
    makeLog(folder.data, ENDS.slice(0, 40))
    const copy = join(folder.path, 'copy')
    mkdirSync(copy)
    const node = await startNode(folder.data)
    const begun = Promise.withResolvers<void>()
    const publishing = publishOn(node, 'loaded', (answers) => {
      if (answers === ANSWERS_BEFORE) begun.resolve()
    })
    await begun.promise
    const backedUp = await run(['backup', '--data', folder.data, '--to', storePath(copy)])
    assert.equal(backedUp.code, 0, backedUp.stderr)
    assert.equal((await node.end('SIGTERM')).code, 0)
    assert.ok((await publishing) > ANSWERS_BEFORE)
    const inCopy = change(copy, (db) =>
      Number(db.prepare('SELECT max(seq) AS seq FROM events').get()?.['seq']),
    )
    assert.ok(inCopy >= (ENDS[39] ?? 0) + ANSWERS_BEFORE && inCopy < EVENTS * 100)
    const checked = await run(['check', '--data', copy])
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, new RegExp(`^${inCopy} events: every table`))
  })
})
